// Rounds what is reported: no estimate is certain to more digits.

export function roundFigure(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
