// A lens from a model that Splink saved.
import { readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import { lens as schema } from '../../roles/resolution/lens/model.ts'
import { type Imported, lensFromSplink, splinkModel } from '../../roles/resolution/lens/splink.ts'
import { asInvoker } from '../acting.ts'
import { Objection } from './objection.ts'

const most_bytes = 16_777_216

export type Import = {
  readonly yaml: string
  readonly fields: number
  readonly rules: number
  readonly remarks: readonly string[]
}

/** Throws `Objection` (1): the file cannot be read, is no such model, or nothing of it can be said by a lens. */
export function importSplink(file: string): Import {
  const parsed = parseBy(splinkModel, jsonIn(file))
  if (!parsed.success) throw new Objection(1, `${file} is no saved Splink model: ${inOneLine(parsed.errors)}`)
  const name = basename(file, extname(file))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  const imported = lensFromSplink(parsed.data, name === '' ? 'imported' : name.slice(0, 64))
  if (imported.document.fields.length === 0) {
    throw new Objection(1, `nothing of ${file} can be said by a lens:\n  ${imported.remarks.join('\n  ')}`)
  }
  const lens = parseBy(schema, imported.document)
  if (!lens.success) throw new Objection(1, `${file} makes no sound lens: ${inOneLine(lens.errors)}`)
  const { blocking, fields } = lens.data
  const rules = blocking === 'automatic' ? 0 : blocking.length
  return { yaml: yamlOf(file, imported), fields: fields.length, rules, remarks: imported.remarks }
}

function jsonIn(file: string): unknown {
  try {
    return asInvoker(() => {
      if (statSync(file).size > most_bytes) throw new Objection(1, `${file} has more than ${most_bytes} bytes`)
      return JSON.parse(readFileSync(file, 'utf8'))
    })
  } catch (error) {
    if (error instanceof Objection) throw error
    if (error instanceof SyntaxError) throw new Objection(1, `${file} is not JSON`)
    const { code } = error as NodeJS.ErrnoException
    throw new Objection(1, `${file} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : code}`)
  }
}

/** Values in one line each, as JSON, which YAML reads as the same. */
function yamlOf(file: string, { document, remarks }: Imported): string {
  const { fields, ...head } = document
  return [
    `# From the Splink model ${JSON.stringify(basename(file))}; its parameters count as they are.`,
    ...remarks.map((remark) => `# ${JSON.stringify(remark).slice(1, -1)}`),
    ...Object.entries(head).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    'fields:',
    ...fields.flatMap((field) =>
      Object.entries(field).map(([key, value], at) => `${at === 0 ? '  - ' : '    '}${key}: ${JSON.stringify(value)}`),
    ),
    '',
  ].join('\n')
}
