// Learns the worth of a lens's levels from data and writes it into the next version of the lens.
import { basename } from 'node:path'
import { editYaml, type YamlChange } from '../../../../adapters/host/yaml/yaml-edit.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { type TrainingResult, trainWeights } from '../../../roles/resolution/engine/train.ts'
import { listRuleFields, normaliseBlockingRule } from '../../../roles/resolution/lens/blocking.ts'
import { listLevelLabels } from '../../../roles/resolution/lens/field.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { convertLensFaults, readLensRecords } from '../lens-records.ts'
import { readLens, readLensText, withColumns } from './lens-file.ts'
import { readLabels } from './lens-labels.ts'

export type LensTrainingOptions = {
  readonly lens: string
  readonly files: readonly string[]
  readonly columns: readonly string[]
  readonly labels: string | undefined
  readonly seed: number
}

export type TrainedLevel = {
  readonly field: string
  readonly level: string
  readonly m: number
  readonly u: number
  readonly bits: number
}

export type LensTraining = {
  readonly lens: string
  readonly version: string
  readonly records: number
  readonly pairs_compared: number
  readonly prior: number
  readonly levels: readonly TrainedLevel[]
  /** Fields of the lens that the data does not have, and that the new version is without. */
  readonly left_out: readonly string[]
}

/** The next version as YAML, and what it says. Throws `Objection` (1). */
export async function trainLens(
  { lens: given, files, columns, labels, seed }: LensTrainingOptions,
  tell: EngineProgressListener,
) {
  const lens = withColumns(readLens(given), columns)
  const records = await readLensRecords(lens, files, tell)
  const known = labels === undefined ? undefined : await readLabels(labels, records)
  const trained = convertLensFaults(() => trainWeights(lens, records, seed, known, tell))
  const version = bumpMinorVersion(lens.version)
  const isThere = (name: string) => trained.fields.some(({ field }) => field === name)
  const leftOut = lens.fields.map(({ name }) => name).filter((name) => !isThere(name))
  const from = files.map((file) => JSON.stringify(basename(file))).join(', ')
  const how = labels === undefined ? 'without labels' : `with the labels of ${JSON.stringify(basename(labels))}`
  const remark = `# m and u were learnt ${how} from ${records.rows} records of ${from}, by ${lens.lens} ${lens.version}.\n`
  const training: LensTraining = {
    lens: lens.lens,
    version,
    records: records.rows,
    pairs_compared: trained.pairs_compared,
    prior: trained.prior,
    levels: trained.fields.flatMap((field) => listTrainedLevels(lens, field)),
    left_out: leftOut,
  }
  return { text: remark + editYaml(readLensText(given), buildLensEdits(lens, trained, version, columns)), training }
}

function listTrainedLevels(lens: Lens, { field, m, u, bits }: TrainingResult['fields'][number]): TrainedLevel[] {
  const of = lens.fields.find(({ name }) => name === field)
  const labels = of ? listLevelLabels(of, lens.swapped?.[0] === field) : []
  return bits.map((each, at) => ({ field, level: labels[at] ?? '', m: m[at] ?? 0, u: u[at] ?? 0, bits: each }))
}

/** New numbers first, and then out with what the data lacks, from the end so that places hold. */
function buildLensEdits(
  lens: Lens,
  { fields, prior }: TrainingResult,
  version: string,
  columns: readonly string[],
): YamlChange[] {
  const changes: YamlChange[] = [{ path: ['version'], value: version }]
  const missing: YamlChange[] = []
  for (const [at, field] of lens.fields.entries()) {
    const found = fields.find((each) => each.field === field.name)
    if (!found) missing.unshift({ path: ['fields', at], value: undefined })
    else {
      if (field.weights) changes.push({ path: ['fields', at, 'weights'], value: undefined })
      changes.push({ path: ['fields', at, 'm'], value: found.m })
      changes.push({ path: ['fields', at, 'u'], value: found.u })
      if (columns.some((each) => each.startsWith(`${field.name}=`))) {
        changes.push({ path: ['fields', at, 'columns'], value: field.columns })
      }
    }
  }
  const isThere = (name: string) => fields.some((each) => each.field === name)
  if (lens.blocking !== 'automatic') {
    for (const [at, rule] of lens.blocking.entries()) {
      if (!listRuleFields(normaliseBlockingRule(rule)).every(isThere))
        missing.unshift({ path: ['blocking', at], value: undefined })
    }
  }
  if (lens.swapped && !lens.swapped.every(isThere)) changes.push({ path: ['swapped'], value: undefined })
  return [...changes, { path: ['prior'], value: prior }, ...missing]
}

/** `1.4.2` is followed by `1.5.0`: what is said is said otherwise, in the same form. */
function bumpMinorVersion(version: string): string {
  const [major = '0', minor = '0'] = version.split('.')
  return `${major}.${Number(minor) + 1}.0`
}
