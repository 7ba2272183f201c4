// Charts of a lens on data: as SVG files in a folder, and as data for text charts on a terminal.
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
import { scoreUnit } from '../../../roles/resolution/engine/score/score-unit.ts'
import { listLevelLabels } from '../../../roles/resolution/lens/field.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { convertLensFaults, type RecordReading, readLensRecords } from '../lens-records.ts'
import { withResultFolder, writeNewFile } from '../new-files.ts'
import { type LensColumns, readLens, withColumns } from './lens-file.ts'

export type LensChartOptions = {
  readonly lens: string
  readonly files: readonly string[]
  readonly columns: LensColumns
  readonly reading: RecordReading
  /** New or empty folder for SVG files; none are written without it. */
  readonly out: string | undefined
  readonly seed: number
  /** Count the pairs of blocking only, without comparing them. */
  readonly isBlockingOnly: boolean
}

export type LensCharts = {
  readonly blocking: readonly BlockingRuleReport[]
  readonly weights?: readonly { readonly field: string; readonly level: string; readonly bits: number }[]
  readonly cut?: number
  readonly charts: { readonly blocking: BarChart; readonly weights?: BarChart; readonly scores?: LineChart }
  readonly files: readonly string[]
}

/** Draws the charts. Throws `OfflineCommandError`: 1 for an unusable lens or data, 3 for a folder in use. */
export async function drawLensCharts(
  options: LensChartOptions,
  onProgress: EngineProgressListener,
): Promise<LensCharts> {
  return await withResultFolder(options.out, () => drawIntoFolder(options, onProgress))
}

async function drawIntoFolder(
  { lens: reference, files, columns, reading, out, seed, isBlockingOnly }: LensChartOptions,
  onProgress: EngineProgressListener,
): Promise<LensCharts> {
  const lens = withColumns(readLens(reference), columns)
  const records = await readLensRecords(lens, files, onProgress, reading)
  const blocking = convertLensFaults(() => reportBlocking(lens, records, seed, onProgress))
  const blockingChart = buildBlockingChart(`${lens.lens} ${lens.version}: pairs that share a key`, blocking)
  if (isBlockingOnly)
    return {
      blocking,
      charts: { blocking: blockingChart },
      files: writeCharts(out, { blocking: renderBarChartSvg(blockingChart) }),
    }
  const resolution = convertLensFaults(() => resolveRecords(lens, records, seed, onProgress))
  const weights = computeLevelWeights(lens, resolution)
  const weightChart = buildWeightChart(`${lens.lens} ${lens.version}: worth of each level`, weights)
  const scoreChart = buildScoreLines(lens, resolution)
  const svgs = {
    blocking: renderBarChartSvg(blockingChart),
    weights: renderBarChartSvg(weightChart),
    threshold: renderLineChartSvg(scoreChart),
  }
  return {
    blocking,
    weights,
    cut: scoreChart.marks?.[0]?.at ?? 0,
    charts: { blocking: blockingChart, weights: weightChart, scores: scoreChart },
    files: writeCharts(out, svgs),
  }
}

/** Text charts of `width` characters. */
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
  onProgress: EngineProgressListener,
): BlockingRuleReport[] {
  const pairings = buildRulePairings(lens, records)
  if (pairings) return [...pairings.map(toRuleReport), ...reportUnusableRules(lens, records)]
  return buildKeyReports(records, createResolutionContext(lens, records, seed, onProgress).settings.cap)
}

/** Weight of every level in bits, set by the lens or learnt. */
function computeLevelWeights(lens: Lens, { model, comparer }: DetailedResolution) {
  const weights = computeWeights(model, comparer)
  return comparer.fields.flatMap(({ name }, fieldIndex) => {
    const field = lens.fields.find((candidate) => candidate.name === name)
    const labels = field ? listLevelLabels(field, comparer.swapped?.[0] === fieldIndex) : []
    return labels.map((level, levelIndex) => ({
      field: name,
      level,
      bits: (weights[fieldIndex]?.[levelIndex + 1] ?? 0) / Math.LN2,
    }))
  })
}

/** Chart of the scores: bits, except between texts of two sources, where they are a likeness. */
function buildScoreLines({ lens, version }: Lens, { scale, scores, cut }: DetailedResolution): LineChart {
  const unit = scoreUnit(scale)
  const title = `${lens} ${version}: scores of compared pairs`
  const scaled = scores.map((score) => score / unit)
  return buildScoreChart(title, scale === 'likeness' ? 'likeness' : 'bits', scaled, cut / unit)
}

function writeCharts(out: string | undefined, svgs: Readonly<Record<string, string>>): string[] {
  if (out === undefined) return []
  return Object.entries(svgs).map(([name, svg]) => {
    const file = join(out, `${name}.svg`)
    writeNewFile(file, `${svg}\n`)
    return file
  })
}
