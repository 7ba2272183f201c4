// Charts of a lens on data: as pictures in a folder, and as figures for whoever draws them with letters.
import { join } from 'node:path'
import type { BarChart, LineChart } from '../../../roles/resolution/chart/chart.ts'
import { buildBlockingChart, buildScoreChart, buildWeightChart } from '../../../roles/resolution/chart/lens-charts.ts'
import { renderBarChartSvg, renderLineChartSvg } from '../../../roles/resolution/chart/svg.ts'
import { renderBarChartText, renderLineChartText } from '../../../roles/resolution/chart/text.ts'
import { buildKeyReports } from '../../../roles/resolution/engine/block/key-reports.ts'
import {
  type BlockingRuleReport,
  buildRulePairings,
  reportUnusableRules,
  toRuleReport,
} from '../../../roles/resolution/engine/block/lens-rules.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import {
  createResolutionContext,
  type DetailedResolution,
  resolveRecords,
} from '../../../roles/resolution/engine/resolve.ts'
import { computeWeights } from '../../../roles/resolution/engine/score/model.ts'
import { listLevelLabels } from '../../../roles/resolution/lens/field.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { convertLensFaults, readLensRecords } from '../lens-records.ts'
import { claimFolder, writeNewFile } from '../new-files.ts'
import { readLens, withColumns } from './lens-file.ts'

export type LensChartOptions = {
  readonly lens: string
  readonly files: readonly string[]
  readonly columns: readonly string[]
  /** A new or empty folder; no picture is written without. */
  readonly out: string | undefined
  readonly seed: number
  /** Blocks are counted, and no pair is compared. */
  readonly isBlockingOnly: boolean
}

export type LensCharts = {
  readonly blocking: readonly BlockingRuleReport[]
  readonly weights?: readonly { readonly field: string; readonly level: string; readonly bits: number }[]
  readonly cut?: number
  readonly charts: { readonly blocking: BarChart; readonly weights?: BarChart; readonly scores?: LineChart }
  readonly files: readonly string[]
}

/** Throws `Objection`: 1 for lens and data that cannot be used, 3 for a folder in use. */
export async function drawLensCharts(
  { lens: given, files, columns, out, seed, isBlockingOnly }: LensChartOptions,
  tell: EngineProgressListener,
): Promise<LensCharts> {
  if (out !== undefined) claimFolder(out)
  const lens = withColumns(readLens(given), columns)
  const records = await readLensRecords(lens, files, tell)
  const blocking = convertLensFaults(() => reportBlocking(lens, records, seed, tell))
  const blocks = buildBlockingChart(`${lens.lens} ${lens.version}: pairs that share a key`, blocking)
  if (isBlockingOnly)
    return { blocking, charts: { blocking: blocks }, files: writeCharts(out, { blocking: renderBarChartSvg(blocks) }) }
  const resolution = convertLensFaults(() => resolveRecords(lens, records, seed, tell))
  const weights = computeLevelWeights(lens, resolution)
  const bars = buildWeightChart(`${lens.lens} ${lens.version}: worth of each level`, weights)
  const lines = buildScoreLines(lens, resolution)
  const pictures = {
    blocking: renderBarChartSvg(blocks),
    weights: renderBarChartSvg(bars),
    threshold: renderLineChartSvg(lines),
  }
  return {
    blocking,
    weights,
    cut: lines.marks?.[0]?.at ?? 0,
    charts: { blocking: blocks, weights: bars, scores: lines },
    files: writeCharts(out, pictures),
  }
}

/** With letters, so many of them in a line. */
export function formatLensCharts({ blocking, weights, scores }: LensCharts['charts'], width: number): string[] {
  return [
    renderBarChartText(blocking, width),
    ...(weights ? [renderBarChartText(weights, width)] : []),
    ...(scores ? [renderLineChartText(scores, width)] : []),
  ]
}

function reportBlocking(
  lens: Lens,
  records: LensRecords,
  seed: number,
  tell: EngineProgressListener,
): BlockingRuleReport[] {
  const pairings = buildRulePairings(lens, records)
  if (pairings) return [...pairings.map(toRuleReport), ...reportUnusableRules(lens, records)]
  return buildKeyReports(records, createResolutionContext(lens, records, seed, tell).settings.cap)
}

/** Bits of every level, as they were given or learnt. */
function computeLevelWeights(lens: Lens, { model, comparer }: DetailedResolution) {
  const weights = computeWeights(model, comparer)
  return comparer.fields.flatMap(({ name }, at) => {
    const field = lens.fields.find((each) => each.name === name)
    const labels = field ? listLevelLabels(field, comparer.swapped?.[0] === at) : []
    return labels.map((level, place) => ({ field: name, level, bits: (weights[at]?.[place + 1] ?? 0) / Math.LN2 }))
  })
}

/** Scores are bits, but between texts of two sources, where they are a likeness. */
function buildScoreLines({ lens, version, told_by }: Lens, { route, scores, cut }: DetailedResolution): LineChart {
  const isLikeness = route === 'links' && told_by === 'texts'
  const by = isLikeness ? 1 : Math.LN2
  const title = `${lens} ${version}: scores of compared pairs`
  const shown = scores.map((score) => score / by)
  return buildScoreChart(title, isLikeness ? 'likeness' : 'bits', shown, cut / by)
}

function writeCharts(out: string | undefined, pictures: Readonly<Record<string, string>>): string[] {
  if (out === undefined) return []
  return Object.entries(pictures).map(([name, picture]) => {
    const file = join(out, `${name}.svg`)
    writeNewFile(file, `${picture}\n`)
    return file
  })
}
