// Lenses as files: those that are shipped, by name, and whoever's own, by path.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../../../adapters/host/yaml/yaml-document.ts'
import { yamlLineLocator } from '../../../../adapters/host/yaml/yaml-lines.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import { type Lens, lens as schema } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { findShippedFolder } from '../../site/shipped-files.ts'

const lens_extension = '.yaml'

/** Names of the shipped lenses, as in `persons`. */
export function listShippedLenses(): string[] {
  const files = readdirSync(findShippedFolder('lenses')).filter((file) => file.endsWith(lens_extension))
  return files.map((file) => file.slice(0, -lens_extension.length)).sort()
}

/** A shipped lens by its name, any other by its file. Throws `OfflineCommandError` (1): there is none, or it is none, with every fault. */
export function readLens(given: string): Lens {
  const text = readLensText(given)
  const read = parseYaml(text)
  if ('faults' in read) throw new OfflineCommandError(1, `${given} is not a valid lens: ${read.faults.join('; ')}`)
  const parsed = parseWithSchema(schema, read.value)
  if (parsed.success) return parsed.data
  const lineOf = yamlLineLocator(text)
  const faults = parsed.errors.map(({ path, message }) => {
    const place = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    return path === '' ? message : `line ${lineOf(place)}, ${path}: ${message}`
  })
  throw new OfflineCommandError(1, `${given} is not a valid lens:\n  ${faults.join('\n  ')}`)
}

/** The text of a lens as its author wrote it. Throws `OfflineCommandError` (1). */
export function readLensText(given: string): string {
  return readLensFile(
    listShippedLenses().includes(given) ? join(findShippedFolder('lenses'), `${given}${lens_extension}`) : given,
  )
}

function readLensFile(file: string): string {
  try {
    return runAsInvoker(() => readFileSync(file, 'utf8'))
  } catch {
    const remedy = `a file, or one of those that are shipped: ${listShippedLenses().join(', ')}`
    throw new OfflineCommandError(1, `the lens ${file} does not exist, or this user may not read it`, remedy)
  }
}

/** `FIELD=COLUMN`: the lens with that column as the first place of the field. Throws `OfflineCommandError` (2) for no such field. */
export function withColumns(lens: Lens, given: readonly string[]): Lens {
  const places = given.map((each) => {
    const [, field = '', column = ''] = /^([^=]+)=(.+)$/.exec(each) ?? []
    if (lens.fields.some(({ name }) => name === field)) return { field, column }
    const known = lens.fields.map(({ name }) => name).join(', ')
    throw new OfflineCommandError(
      2,
      `${JSON.stringify(each)} does not have the form FIELD=COLUMN with a field of the lens; the fields are ${known}`,
    )
  })
  const fields = lens.fields.map((field) => {
    const first = places.filter((place) => place.field === field.name).map(({ column }) => column)
    if (first.length === 0) return field
    const { join, ...rest } = field
    return { ...rest, columns: [...first, ...(field.columns ?? (join ? [] : [field.name]))] }
  })
  return { ...lens, fields }
}
