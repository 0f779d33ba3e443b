"""The calibration of scores as an SVG: what part of the pairs of a score was for the person, on the diagonal where scores are
right. The area of a dot is in proportion to the logarithm of its pairs."""

import math


def calibration(rows, path):
    """Writes the plot. `rows`: pairs, mean score and part for the person of each band of scores."""
    size, edge = 360, 48
    span = size - 2 * edge

    def at(score, part):
        return edge + score * span, size - edge - part * span

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="11">',
        f'<rect width="{size}" height="{size}" fill="#fff"/>',
        f'<path d="M{edge} {edge}V{size - edge}H{size - edge}" fill="none" stroke="#666"/>',
        f'<path d="M{edge} {size - edge}L{size - edge} {edge}" stroke="#bbb" stroke-dasharray="4 4"/>',
    ]
    for tick in range(0, 11, 2):
        value = tick / 10
        x, y = at(value, value)
        lines.append(f'<text x="{x:.0f}" y="{size - edge + 16}" text-anchor="middle" fill="#444">{value}</text>')
        lines.append(f'<text x="{edge - 8}" y="{y + 4:.0f}" text-anchor="end" fill="#444">{value}</text>')
    points = [at(score, part) for _, score, part in rows]
    lines.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="#1f6feb"/>')
    for (pairs, _, _), (x, y) in zip(rows, points):
        radius = 1.4 * math.sqrt(math.log10(max(10, pairs)))
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#1f6feb"><title>{pairs} pairs</title></circle>')
    lines.append(f'<text x="{size / 2}" y="{size - 10}" text-anchor="middle">mean score</text>')
    lines.append(f'<text x="14" y="{size / 2}" text-anchor="middle" transform="rotate(-90 14 {size / 2})">part for the person</text>')
    lines.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
