package androidx.core.graphics.drawable

class IconCompat private constructor()
