// Lenses as files: those that are shipped, by name, and whoever's own, by path.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { linesOf } from '../../../adapters/host/yaml/yaml-lines.ts'
import { parseBy } from '../../kernel/parsing.ts'
import { type Lens, lens as schema } from '../../roles/resolution/lens/model.ts'
import { asInvoker } from '../acting.ts'
import { Objection } from './objection.ts'
import { shippedFolder } from './shipped-files.ts'

const ending = '.yaml'

/** Names of the shipped lenses, as in `persons`. */
export function lensNames(): string[] {
  const files = readdirSync(shippedFolder('lenses')).filter((file) => file.endsWith(ending))
  return files.map((file) => file.slice(0, -ending.length)).sort()
}

/** A shipped lens by its name, any other by its file. Throws `Objection` (1): there is none, or it is none, with every fault. */
export function readLens(given: string): Lens {
  const text = lensText(given)
  const read = parseYaml(text)
  if ('faults' in read) throw new Objection(1, `${given} is no lens: ${read.faults.join('; ')}`)
  const parsed = parseBy(schema, read.value)
  if (parsed.success) return parsed.data
  const lineOf = linesOf(text)
  const faults = parsed.errors.map(({ path, message }) => {
    const place = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    return path === '' ? message : `line ${lineOf(place)}, ${path}: ${message}`
  })
  throw new Objection(1, `${given} is no lens:\n  ${faults.join('\n  ')}`)
}

/** The text of a lens as its author wrote it. Throws `Objection` (1). */
export function lensText(given: string): string {
  return textOf(lensNames().includes(given) ? join(shippedFolder('lenses'), `${given}${ending}`) : given)
}

function textOf(file: string): string {
  try {
    return asInvoker(() => readFileSync(file, 'utf8'))
  } catch {
    const remedy = `a file, or one of those that are shipped: ${lensNames().join(', ')}`
    throw new Objection(1, `there is no lens ${file} that this user may read`, remedy)
  }
}

/** `FIELD=COLUMN`: the lens with that column as the first place of the field. Throws `Objection` (2) for no such field. */
export function withColumns(lens: Lens, given: readonly string[]): Lens {
  const places = given.map((each) => {
    const [, field = '', column = ''] = /^([^=]+)=(.+)$/.exec(each) ?? []
    if (lens.fields.some(({ name }) => name === field)) return { field, column }
    const known = lens.fields.map(({ name }) => name).join(', ')
    throw new Objection(2, `${JSON.stringify(each)} is not FIELD=COLUMN with a field of the lens: ${known}`)
  })
  const fields = lens.fields.map((field) => {
    const first = places.filter((place) => place.field === field.name).map(({ column }) => column)
    if (first.length === 0) return field
    const { join, ...rest } = field
    return { ...rest, columns: [...first, ...(field.columns ?? (join ? [] : [field.name]))] }
  })
  return { ...lens, fields }
}
