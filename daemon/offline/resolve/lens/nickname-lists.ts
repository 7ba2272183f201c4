// Reads the nickname lists that a lens file names: shipped ones by name, others by path. The lens then contains the groups.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readInputFile } from '../../read-input-file.ts'
import { findShippedFolder } from '../../site/shipped-files.ts'

const list_extension = '.txt'

/** A lens file, as far as it may name lists; everything else is left to the schema of a lens. */
const namingLens = z.looseObject({ fields: z.array(z.unknown()) })
const listNames = z.union([z.string(), z.array(z.string()).min(1)])
const namingField = z.looseObject({ nicknames: listNames })

/** Replaces the names of lists in the fields of a lens by their groups. Throws `OfflineCommandError` (1). */
export function readNicknameLists(lens: unknown, lensFile: string | undefined): unknown {
  const parsed = namingLens.safeParse(lens)
  if (!parsed.success) return lens
  const fields = parsed.data.fields.map((field) => {
    const naming = namingField.safeParse(field)
    if (!naming.success) return field
    const references = typeof naming.data.nicknames === 'string' ? [naming.data.nicknames] : naming.data.nicknames
    return { ...naming.data, nicknames: references.flatMap((reference) => readNicknameList(reference, lensFile)) }
  })
  return { ...parsed.data, fields }
}

function readNicknameList(reference: string, lensFile: string | undefined): string[] {
  // A line of a list, as a stored lens has it.
  if (reference.includes(':')) return [reference]
  const folder = join(findShippedFolder('lenses'), 'nicknames')
  const shipped = listShippedNicknames(folder)
  const text = shipped.includes(reference)
    ? readFileSync(join(folder, `${reference}${list_extension}`), 'utf8')
    : readListFile(resolve(lensFile === undefined ? '.' : dirname(lensFile), reference), reference, shipped)
  return parseNicknames(text, reference)
}

function listShippedNicknames(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(list_extension))
  return files.map((file) => file.slice(0, -list_extension.length)).sort()
}

function readListFile(file: string, reference: string, shipped: readonly string[]): string {
  try {
    return readInputFile(file)
  } catch (error) {
    if (!(error instanceof OfflineCommandError)) throw error
    const remedy = `name a file, from the folder of the lens, or a shipped list: ${shipped.join(', ')}`
    throw new OfflineCommandError(error.exit, `the nickname list ${reference}: ${error.message}`, remedy)
  }
}

const max_named_lines = 10

/** Parses lines as in `Robert: Bob, Rob`; `#` starts a comment. Names every faulty line. */
function parseNicknames(text: string, reference: string): string[] {
  const faults: string[] = []
  const groups: string[] = []
  for (const [at, line] of text.split('\n').entries()) {
    const content = line.replace(/#.*/, '').trim()
    if (content === '') continue
    const [, name = '', others = ''] = /^([^:]+):(.+)$/.exec(content) ?? []
    const group = [name, ...others.split(',')].map((each) => each.trim()).filter((each) => each !== '')
    if (name === '' || group.length < 2) faults.push(`line ${at + 1}: ${JSON.stringify(content.slice(0, 60))}`)
    else groups.push(`${name.trim()}: ${group.slice(1).join(', ')}`)
  }
  if (faults.length === 0) return groups
  const remedy = 'write a name, a colon, and its nicknames separated by commas, as in `Robert: Bob, Rob`'
  throw new OfflineCommandError(
    1,
    `the nickname list ${reference} has lines that are not a name and its nicknames`,
    remedy,
    faults.slice(0, max_named_lines),
  )
}
