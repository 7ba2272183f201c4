// Charts of a lens on data: as pictures in a folder, and as figures for whoever draws them with letters.
import { join } from 'node:path'
import type { Bars, Lines } from '../../roles/resolution/chart/chart.ts'
import { blockingBars, scoreLines, weightBars } from '../../roles/resolution/chart/lens-charts.ts'
import { barsAsSvg, linesAsSvg } from '../../roles/resolution/chart/svg.ts'
import { barsAsText, linesAsText } from '../../roles/resolution/chart/text.ts'
import { keyReports } from '../../roles/resolution/engine/block/automatic.ts'
import { pairingsOf, type RuleReport, reportOf, unusableOf } from '../../roles/resolution/engine/block/ruled.ts'
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import type { Records } from '../../roles/resolution/engine/records/records.ts'
import { givenFor, type Resolved, resolve } from '../../roles/resolution/engine/resolve.ts'
import { weightsOf } from '../../roles/resolution/engine/score/model.ts'
import { levelLabels } from '../../roles/resolution/lens/field.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { readLens, withColumns } from './lens-file.ts'
import { claimFolder, saveNew } from './new-files.ts'
import { faultless, recordsIn } from './seen-records.ts'

export type Wanted = {
  readonly lens: string
  readonly files: readonly string[]
  readonly columns: readonly string[]
  /** A new or empty folder; no picture is written without. */
  readonly out: string | undefined
  readonly seed: number
  /** Blocks are counted, and no pair is compared. */
  readonly isBlockingOnly: boolean
}

export type Pictures = {
  readonly blocking: readonly RuleReport[]
  readonly weights?: readonly { readonly field: string; readonly level: string; readonly bits: number }[]
  readonly cut?: number
  readonly charts: { readonly blocking: Bars; readonly weights?: Bars; readonly scores?: Lines }
  readonly files: readonly string[]
}

/** Throws `Objection`: 1 for lens and data that cannot be used, 3 for a folder in use. */
export async function drawLens(
  { lens: given, files, columns, out, seed, isBlockingOnly }: Wanted,
  tell: Tell,
): Promise<Pictures> {
  if (out !== undefined) claimFolder(out)
  const lens = withColumns(readLens(given), columns)
  const records = await recordsIn(lens, files, tell)
  const blocking = faultless(() => blockingOf(lens, records, seed, tell))
  const blocks = blockingBars(`${lens.lens} ${lens.version}: pairs that share a key`, blocking)
  if (isBlockingOnly)
    return { blocking, charts: { blocking: blocks }, files: written(out, { blocking: barsAsSvg(blocks) }) }
  const resolution = faultless(() => resolve(lens, records, seed, tell))
  const weights = worthOf(lens, resolution)
  const bars = weightBars(`${lens.lens} ${lens.version}: worth of each level`, weights)
  const lines = linesFor(lens, resolution)
  const pictures = { blocking: barsAsSvg(blocks), weights: barsAsSvg(bars), threshold: linesAsSvg(lines) }
  return {
    blocking,
    weights,
    cut: lines.marks?.[0]?.at ?? 0,
    charts: { blocking: blocks, weights: bars, scores: lines },
    files: written(out, pictures),
  }
}

/** With letters, so many of them in a line. */
export function asText({ blocking, weights, scores }: Pictures['charts'], width: number): string[] {
  return [
    barsAsText(blocking, width),
    ...(weights ? [barsAsText(weights, width)] : []),
    ...(scores ? [linesAsText(scores, width)] : []),
  ]
}

function blockingOf(lens: Lens, records: Records, seed: number, tell: Tell): RuleReport[] {
  const pairings = pairingsOf(lens, records)
  if (pairings) return [...pairings.map(reportOf), ...unusableOf(lens, records)]
  return keyReports(records, givenFor(lens, records, seed, tell).settings.cap)
}

/** Bits of every level, as they were given or learnt. */
function worthOf(lens: Lens, { model, compares }: Resolved) {
  const weights = weightsOf(model, compares)
  return compares.fields.flatMap(({ name }, at) => {
    const field = lens.fields.find((each) => each.name === name)
    const labels = field ? levelLabels(field, compares.swapped?.[0] === at) : []
    return labels.map((level, place) => ({ field: name, level, bits: (weights[at]?.[place + 1] ?? 0) / Math.LN2 }))
  })
}

/** Scores are bits, but between texts of two sources, where they are a likeness. */
function linesFor({ lens, version, told_by }: Lens, { route, scores, cut }: Resolved): Lines {
  const isLikeness = route === 'links' && told_by === 'texts'
  const by = isLikeness ? 1 : Math.LN2
  const title = `${lens} ${version}: scores of compared pairs`
  const shown = scores.map((score) => score / by)
  return scoreLines(title, isLikeness ? 'likeness' : 'bits', shown, cut / by)
}

function written(out: string | undefined, pictures: Readonly<Record<string, string>>): string[] {
  if (out === undefined) return []
  return Object.entries(pictures).map(([name, picture]) => {
    const file = join(out, `${name}.svg`)
    saveNew(file, `${picture}\n`)
    return file
  })
}
