// Learns the weights of a lens from data and writes them into the next version of the lens.
import { basename } from 'node:path'
import { editYaml, type YamlChange } from '../../../../adapters/host/yaml/yaml-edit.ts'
import type { LabelEffect } from '../../../roles/resolution/engine/labels/learn-from-pairs.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { type TrainingResult, trainWeights } from '../../../roles/resolution/engine/train.ts'
import { listRuleFields, normaliseBlockingRule } from '../../../roles/resolution/lens/blocking.ts'
import { listLevelLabels } from '../../../roles/resolution/lens/field.ts'
import { cutKeys, type Lens } from '../../../roles/resolution/lens/model.ts'
import { convertLensFaults, type RecordReading, readLensRecords } from '../lens-records.ts'
import { nameSource } from '../reading/source-names.ts'
import { remarkUnreadColumns } from '../reading/unread-columns.ts'
import { type LensColumns, readLens, readLensText, withColumns } from './lens-file.ts'
import { type LabelFile, readLabels } from './lens-labels.ts'

export type LensTrainingOptions = {
  readonly lens: string
  readonly files: readonly string[]
  readonly columns: LensColumns
  readonly reading: RecordReading
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
  /** Fields that the data lacks; the new version omits them. */
  readonly left_out: readonly string[]
  /** The effect of labelled pairs; absent without them. */
  readonly labels?: LabelEffect & Pick<LabelFile, 'changed' | 'contradiction'>
}

/** The next version as YAML, and its weights. Throws `OfflineCommandError` (1). */
export async function trainLens(
  { lens: reference, files, columns, reading, labels, seed }: LensTrainingOptions,
  onProgress: EngineProgressListener,
) {
  const lens = withColumns(readLens(reference), columns)
  const records = await readLensRecords(lens, files, onProgress, reading)
  remarkUnreadColumns(records.names, records.readings, reading.onRemark)
  const labelFile = labels === undefined ? undefined : await readLabels(labels, records)
  const trained = convertLensFaults(() => trainWeights(lens, records, seed, labelFile?.labels, onProgress))
  const version = bumpMinorVersion(lens.version)
  const isInData = (name: string) => trained.fields.some(({ field }) => field === name)
  const omitted = lens.fields.map(({ name }) => name).filter((name) => !isInData(name))
  const fileNames = files.map((file) => JSON.stringify(nameSource(file, reading.sources))).join(', ')
  const method = labels === undefined ? 'without labels' : `with the labels of ${JSON.stringify(basename(labels))}`
  const remark = `# m and u were learnt ${method} from ${records.rows} records of ${fileNames}, by ${lens.lens} ${lens.version}.\n`
  const training: LensTraining = {
    lens: lens.lens,
    version,
    records: records.rows,
    pairs_compared: trained.pairs_compared,
    prior: trained.prior,
    levels: trained.fields.flatMap((field) => listTrainedLevels(lens, field)),
    left_out: omitted,
    ...(labelFile && trained.labelled && { labels: describeLabels(labelFile, trained.labelled.effect) }),
  }
  return { text: remark + editYaml(readLensText(reference), buildLensEdits(lens, trained, version, columns)), training }
}

function describeLabels(
  { changed, contradiction }: LabelFile,
  effect: LabelEffect,
): NonNullable<LensTraining['labels']> {
  return { ...effect, changed, ...(contradiction && { contradiction }) }
}

function listTrainedLevels(lens: Lens, { field, m, u, bits }: TrainingResult['fields'][number]): TrainedLevel[] {
  const lensField = lens.fields.find(({ name }) => name === field)
  const labels = lensField ? listLevelLabels(lensField, lens.swapped?.[0] === field) : []
  return bits.map((bit_weight, index) => ({
    field,
    level: labels[index] ?? '',
    m: m[index] ?? 0,
    u: u[index] ?? 0,
    bits: bit_weight,
  }))
}

/** Edits of the lens: new values first, then removals from the end, so that earlier paths stay valid. */
function buildLensEdits(
  lens: Lens,
  { fields, prior, labelled }: TrainingResult,
  version: string,
  { columns, id_field }: LensColumns,
): YamlChange[] {
  const changes: YamlChange[] = [{ path: ['version'], value: version }]
  if (id_field !== undefined) changes.push({ path: ['id_field'], value: id_field })
  const removals: YamlChange[] = []
  for (const [index, field] of lens.fields.entries()) {
    const trainedField = fields.find((trained) => trained.field === field.name)
    if (!trainedField) removals.unshift({ path: ['fields', index], value: undefined })
    else {
      if (field.weights) changes.push({ path: ['fields', index, 'weights'], value: undefined })
      changes.push({ path: ['fields', index, 'm'], value: trainedField.m })
      changes.push({ path: ['fields', index, 'u'], value: trainedField.u })
      if (columns.some((assignment) => assignment.startsWith(`${field.name}=`))) {
        changes.push({ path: ['fields', index, 'columns'], value: field.columns })
      }
    }
  }
  const isInData = (name: string) => fields.some((trained) => trained.field === name)
  if (lens.blocking !== 'automatic') {
    for (const [index, rule] of lens.blocking.entries()) {
      if (!listRuleFields(normaliseBlockingRule(rule)).every(isInData))
        removals.unshift({ path: ['blocking', index], value: undefined })
    }
  }
  if (lens.swapped && !lens.swapped.every(isInData)) changes.push({ path: ['swapped'], value: undefined })
  changes.push(...listCutEdits(lens, labelled))
  return [...changes, { path: ['prior'], value: prior }, ...removals]
}

/** Keys that labels set replace those of the lens; those that earlier labels set go with their weights. */
function listCutEdits(lens: Lens, labelled: TrainingResult['labelled']): YamlChange[] {
  const { from_labels: before = [] } = lens
  const isSet = (key: (typeof cutKeys)[number]) => labelled?.[key] !== undefined
  // A way to cluster that a person chose stays through any training.
  const from_labels = cutKeys.filter(
    (key) => isSet(key) && (key !== 'clustering' || lens.clustering === undefined || before.includes(key)),
  )
  const changed = cutKeys.filter((key) => isSet(key) || before.includes(key))
  return [
    ...changed.map((key) => ({ path: [key], value: labelled?.[key] })),
    ...(from_labels.length > 0 ? [{ path: ['from_labels'], value: from_labels }] : []),
    ...(from_labels.length === 0 && before.length > 0 ? [{ path: ['from_labels'], value: undefined }] : []),
  ]
}

/** `1.4.2` becomes `1.5.0`: new values in the same form. */
function bumpMinorVersion(version: string): string {
  const [major = '0', minor = '0'] = version.split('.')
  return `${major}.${Number(minor) + 1}.0`
}
