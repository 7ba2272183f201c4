// Lines of the file of decisions that a report saves, and what its script reads to write them.
import { escapeFormula } from '../../../kernel/text/formula-cell.ts'
import type { ReportCluster, ReportDecision, ReportFacts, ReportPair, ReportRecord } from './report-facts.ts'

/** Characters of one that is escaped in JSON. */
export const max_escaped_length = 6
/** A page has to open quickly: more earlier decisions are left out, and a cluster with longer ids is not decided there. */
const [max_kept_characters, max_cluster_characters] = [2_000_000, 100_000] as const

export type PageData = {
  /** Both records of each shown pair, as cells that lack only the decision. */
  readonly pairs: readonly string[]
  /** Records of the clusters that can be decided, as cells, by the number of the cluster. */
  readonly clusters: Readonly<Record<number, readonly string[]>>
  /** Earlier decisions, as lines. */
  readonly kept: readonly string[]
}

/** `shown`: the pairs of the page. */
export function buildPageData(facts: ReportFacts, shown: readonly ReportPair[]): PageData {
  const clusters = [...facts.doubtful, ...facts.largest].filter(canDecide)
  return {
    pairs: listDecisionCells(shown),
    clusters: Object.fromEntries(clusters.map(({ number, nodes }) => [number, nodes.map(formatRecord)])),
    kept: keepsDecisions(facts) ? facts.decided.map(formatDecision) : [],
  }
}

/** Whether all records of a cluster are on the page. */
export function canDecide({ size, nodes }: ReportCluster): boolean {
  return size === nodes.length && nodes.map(formatRecord).join('').length * max_escaped_length <= max_cluster_characters
}

/** Whether the saved file has the earlier decisions, too. */
export function keepsDecisions({ decided }: ReportFacts): boolean {
  let characters = 0
  for (const decision of decided) characters += formatDecision(decision).length * max_escaped_length
  return characters <= max_kept_characters
}

export function listDecisionCells(pairs: readonly ReportPair[]): string[] {
  return pairs.map(({ left, right }) => `${formatRecord(left)},${formatRecord(right)}`)
}

function formatDecision({ left, right, isMatch }: ReportDecision): string {
  return `${formatRecord(left)},${formatRecord(right)},${isMatch ? 'confirm' : 'reject'}`
}

function formatRecord({ source, id }: Pick<ReportRecord, 'source' | 'id'>): string {
  return `${formatCell(source)},${formatCell(id)}`
}

function formatCell(text: string): string {
  const cell = escapeFormula(text)
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
