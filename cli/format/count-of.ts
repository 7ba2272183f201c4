// Formats a number of things with their name in the singular or the plural.

export function countOf(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`
}

export function formatLabelCount(matches: number, non_matches: number): string {
  return `${countOf(matches, 'match', 'matches')}, ${countOf(non_matches, 'non-match', 'non-matches')}`
}
