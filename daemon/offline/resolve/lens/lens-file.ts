// Reads lenses: shipped ones by name, others by path.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../../../adapters/host/yaml/yaml-document.ts'
import { yamlLineLocator } from '../../../../adapters/host/yaml/yaml-lines.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { type Lens, lens as schema } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readInputFile } from '../../read-input-file.ts'
import { findShippedFolder } from '../../site/shipped-files.ts'
import { readNicknameLists } from './nickname-lists.ts'

const lens_extension = '.yaml'
const correct_lens = 'correct these fields; `platform resolve lens init --data FILE` proposes a lens from a data file'

/** Names of the shipped lenses, such as `persons`. */
export function listShippedLenses(): string[] {
  const files = readdirSync(findShippedFolder('lenses')).filter((file) => file.endsWith(lens_extension))
  return files.map((file) => file.slice(0, -lens_extension.length)).sort()
}

/** Reads a shipped lens by name, or a file. Throws `OfflineCommandError` (1) if it is missing or invalid, with every fault. */
export function readLens(reference: string): Lens {
  const text = readLensText(reference)
  const yaml = parseYaml(text)
  if ('faults' in yaml) throw new OfflineCommandError(1, `${reference} is not a valid lens: ${yaml.faults.join('; ')}`)
  const lensFile = listShippedLenses().includes(reference) ? undefined : reference
  const parsed = parseWithSchema(schema, readNicknameLists(yaml.value, lensFile))
  if (parsed.success) return parsed.data
  const lineOf = yamlLineLocator(text)
  const faults = parsed.errors.map(({ path, message }) => {
    const keys = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    return path === '' ? message : `line ${lineOf(keys)}, ${path}: ${message}`
  })
  throw new OfflineCommandError(1, `${reference} is not a valid lens`, correct_lens, faults)
}

/** The original text of a lens. Throws `OfflineCommandError` (1). */
export function readLensText(reference: string): string {
  return listShippedLenses().includes(reference)
    ? readFileSync(join(findShippedFolder('lenses'), `${reference}${lens_extension}`), 'utf8')
    : readLensFile(reference)
}

function readLensFile(file: string): string {
  try {
    return readInputFile(file)
  } catch (error) {
    if (!(error instanceof OfflineCommandError)) throw error
    const remedy = `name a file, or a shipped lens: ${listShippedLenses().join(', ')}`
    throw new OfflineCommandError(error.exit, `the lens ${error.message}`, remedy)
  }
}

/**
 * Properties that a command states instead of the lens: the columns of fields (`FIELD=COLUMN`), the column with the ids, and the bits from
 * which a pair is a match.
 */
export type LensColumns = {
  readonly columns: readonly string[]
  readonly id_field?: string | undefined
  readonly threshold?: number | undefined
}

/** Applies the columns: that of an assignment becomes the first of its field. Throws `OfflineCommandError` (2) for an unknown field. */
export function withColumns(
  lens: Lens,
  { columns: assignments, id_field = lens.id_field, threshold = lens.threshold }: LensColumns,
): Lens {
  const assignedColumns = assignments.map((assignment) => {
    const [, field = '', column = ''] = /^([^=]+)=(.+)$/.exec(assignment) ?? []
    if (lens.fields.some(({ name }) => name === field)) return { field, column }
    if (column !== '' && ['id', lens.id_field].includes(field))
      throw new OfflineCommandError(
        2,
        `${JSON.stringify(assignment)} names no field of the lens`,
        idFieldRemedy(column),
      )
    const fieldNames = lens.fields.map(({ name }) => name).join(', ')
    throw new OfflineCommandError(
      2,
      `${JSON.stringify(assignment)} does not have the form FIELD=COLUMN with a field of the lens; the fields are ${fieldNames}`,
    )
  })
  const fields = lens.fields.map((field) => {
    const columns = assignedColumns.filter((assigned) => assigned.field === field.name).map(({ column }) => column)
    if (columns.length === 0) return field
    const { join, ...otherProperties } = field
    return { ...otherProperties, columns: [...columns, ...(field.columns ?? (join ? [] : [field.name]))] }
  })
  return { ...lens, id_field, fields, ...(threshold !== undefined && { threshold }) }
}

const idFieldRemedy = (column: string) => `To name the id column: --id-field ${column}`
