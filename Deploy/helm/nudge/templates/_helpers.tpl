{{/* Made by Deploy/helm/make-chart. */}}
{{- define "nudge.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
{{- define "nudge.apart" -}}
{{- if .root.Values.apart -}}
requiredDuringSchedulingIgnoredDuringExecution:
  - labelSelector:
      matchLabels: {app.kubernetes.io/name: {{ .name }}}
    topologyKey: kubernetes.io/hostname
{{- else -}}
preferredDuringSchedulingIgnoredDuringExecution:
  - podAffinityTerm:
      labelSelector:
        matchLabels: {app.kubernetes.io/name: {{ .name }}}
      topologyKey: kubernetes.io/hostname
    weight: 100
{{- end }}
{{- end }}
