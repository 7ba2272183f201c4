// Formats the number of labelled matches and non-matches.
import { formatCount } from '../../daemon/kernel/text/format-count.ts'

export function formatLabelCount(matches: number, non_matches: number): string {
  return `${formatCount(matches, 'match', 'matches')}, ${formatCount(non_matches, 'non-match', 'non-matches')}`
}
