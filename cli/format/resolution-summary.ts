// Formats the summary of a run of files: the result first, then how it came about, then the next step.

import { formatCount } from '../../daemon/kernel/text/format-count.ts'
import type { offline } from '../../daemon/offline/offline.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { quoteWord } from './quote-word.ts'

export type QualityWords = ReturnType<Awaited<ReturnType<typeof offline.resultQuality>>['describeQuality']>
export type FileResolutionSummary = Awaited<
  ReturnType<Awaited<ReturnType<typeof offline.fileResolution>>['resolveFiles']>
>

/** `out`: folder of the results; `unread`: the columns that the lens does not read. */
export function formatResolutionSummary(
  terminal: Terminal,
  summary: FileResolutionSummary,
  words: QualityWords,
  { out, unread }: { readonly out: string; readonly unread: string | undefined },
): string {
  const { records, sources, entities, clusters, records_in_clusters, pairs_compared, quality } = summary
  const share = quality.prior && `, of which about ${formatPercent(quality.prior.share)} match`
  return formatFields(terminal, {
    result: words.verdict,
    entities: `${entities}: ${clusters} of several records (${records_in_clusters} records), ${entities - clusters} of one`,
    records: `${records} from ${sources.map((source) => `${source.name} (${source.records})`).join(', ')}`,
    lens: `${summary.lens} ${summary.version}: ${summary.fields.join(', ')}`,
    not_compared: unread,
    compared: `${pairs_compared} pairs of records${share ?? ''}`,
    method: words.route,
    decided_by: words.carried_by,
    look_first_at: words.doubtful,
    decisions: summary.decisions && `${summary.decisions.counted} taken into account`,
    registry: summary.registry,
    left_out: summary.left_out?.map(formatLeftOut).join('; '),
    blocking: summary.rules.length > 0 ? summary.rules.map(formatBlockingRule).join('; ') : undefined,
    next: `platform resolve report ${quoteWord(out)}`,
  })
}

function formatPercent(share: number): string {
  const percent = share * 100
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`
}

function formatLeftOut({ what, count, limit }: NonNullable<FileResolutionSummary['left_out']>[number]): string {
  if (what === 'reformed_records')
    return `${formatCount(count, 'record', 'records')} of the registry, not in the data: texts brought into the form of this version, without what the earlier form had dropped`
  return `search for similar texts without a shared key (${count} records, limit ${limit})`
}

type BlockingRuleSummary = FileResolutionSummary['rules'][number]

function formatBlockingRule({ rule, pairs, largest, left_out_count }: BlockingRuleSummary): string {
  const omitted =
    left_out_count > 0 ? `, ${left_out_count} too large blocks left out, the largest of ${largest} records` : ''
  return `${rule} (${pairs} pairs${omitted})`
}
