// The columns of a table of SQLite by its statement CREATE TABLE, as the file has it (https://sqlite.org/lang_createtable.html).
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { max_columns } from './sqlite-record.ts'

export type SqliteColumn = {
  readonly name: string
  /** In capitals, without blanks; empty where none is declared. */
  readonly type: string
  /** Whether its value is the id of the row, which the record has not. */
  readonly isRowId: boolean
  /** By an expression, which is not run. */
  readonly isGenerated: boolean
  /** Whether records have a value of it. */
  readonly isStored: boolean
  /** Of rows that were written before the column was there; undefined for none, null for one that is an expression. */
  readonly usual: string | number | undefined | null
}

type Token = { readonly text: string; readonly isQuoted: boolean }

const max_statement_characters = 1_048_576

const token =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[A-Za-z0-9_$.\u0080-\uffff]+|\/(?!\*)|[^"`['/]/gy
const blank = /^(?:\s|--|\/\*)/
const tableConstraint = /^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/
const columnConstraint = /^(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)$/

/** Throws `DataFault` for a statement that is not read. */
export function parseCreateTable(statement: string): readonly SqliteColumn[] {
  const tokens = tokenize(statement)
  if (keyword(tokens[0]) !== 'CREATE' || keyword(tokens[1]) !== 'TABLE' || tokens[3]?.text !== '(') throw unreadable()
  const { definitions, options } = splitDefinitions(tokens)
  // Its rows are in a tree of another kind.
  if (options.some((each) => keyword(each) === 'WITHOUT'))
    throw new DataFault('a table without ids of its rows is not read')
  const first = definitions.findIndex(([head]) => head && !head.isQuoted && tableConstraint.test(keyword(head)))
  const [columns, constraints] = first < 0 ? [definitions, []] : [definitions.slice(0, first), definitions.slice(first)]
  if (columns.length === 0 || columns.length > max_columns) throw unreadable()
  const key = constraints.map(findKey).find((name) => name !== undefined)
  return columns.map((definition) => parseColumn(definition, key))
}

function unreadable(): DataFault {
  return new DataFault('damaged: the columns of a table are not stated as SQLite states them')
}

function tokenize(statement: string): Token[] {
  if (statement.length > max_statement_characters) throw unreadable()
  const tokens: Token[] = []
  token.lastIndex = 0
  while (token.lastIndex < statement.length) {
    const text = token.exec(statement)?.[0]
    // A quotation mark or a comment without an end.
    if (text === undefined) throw unreadable()
    if (blank.test(text)) continue
    const isQuoted = text.length > 1 && /^["'`[]/.test(text)
    tokens.push({ text: isQuoted ? unquote(text) : text, isQuoted })
  }
  return tokens
}

function unquote(text: string): string {
  const [mark = '', inner] = [text[0], text.slice(1, -1)]
  return mark === '[' ? inner : inner.replaceAll(mark + mark, mark)
}

/** In capitals; empty for a quoted word, which is a name. */
function keyword(each: Token | undefined): string {
  return each && !each.isQuoted ? each.text.toUpperCase() : ''
}

function splitDefinitions(tokens: readonly Token[]): { definitions: Token[][]; options: readonly Token[] } {
  const definitions: Token[][] = [[]]
  let depth = 0
  for (const [at, each] of tokens.entries()) {
    if (at < 3) continue
    const mark = each.isQuoted ? '' : each.text
    if (mark === ')' && --depth === 0) return { definitions, options: tokens.slice(at + 1) }
    if (mark === ',' && depth === 1) definitions.push([])
    else if (at > 3) definitions.at(-1)?.push(each)
    if (mark === '(') depth++
  }
  throw unreadable()
}

/** The column that is the key of a table alone, in lower case. */
function findKey(constraint: readonly Token[]): string | undefined {
  const at = constraint.findIndex(
    (each, index) => keyword(each) === 'PRIMARY' && keyword(constraint[index + 1]) === 'KEY',
  )
  const [open, name, next] = constraint.slice(at + 2)
  const isAlone = next?.text === ')' || ['ASC', 'DESC', 'AUTOINCREMENT', 'COLLATE'].includes(keyword(next))
  return at >= 0 && open?.text === '(' && name && isAlone ? name.text.toLowerCase() : undefined
}

function parseColumn(definition: readonly Token[], key: string | undefined): SqliteColumn {
  const [head, ...rest] = definition
  if (!head) throw unreadable()
  const end = rest.findIndex((each) => columnConstraint.test(keyword(each)))
  const type = rest.slice(0, end < 0 ? undefined : end).map(({ text }) => text.toUpperCase())
  const words = outerWords(end < 0 ? [] : rest.slice(end))
  const names = words.map(keyword)
  const primary = names.findIndex((word, at) => word === 'PRIMARY' && names[at + 1] === 'KEY')
  const isKey = primary >= 0 ? names[primary + 2] !== 'DESC' : key === head.text.toLowerCase()
  const isGenerated = names.includes('AS')
  return {
    name: head.text,
    type: type.join(''),
    isRowId: isKey && type.join(' ') === 'INTEGER',
    isGenerated,
    isStored: !isGenerated || names.includes('STORED'),
    usual: findUsual(words, affinityOf(type.join(''))),
  }
}

/** Without what is in parentheses, of which the first remains. */
function outerWords(tokens: readonly Token[]): Token[] {
  let depth = 0
  return tokens.filter((each) => {
    const mark = each.isQuoted ? '' : each.text
    if (mark === ')') depth--
    return mark === '(' ? depth++ === 0 : depth === 0 && mark !== ')'
  })
}

type Affinity = 'text' | 'number' | 'none'

/** What SQLite makes of a value by the type of its column ("Type Affinity" of its documentation). */
function affinityOf(type: string): Affinity {
  if (type.includes('INT')) return 'number'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'text'
  return type === '' || type.includes('BLOB') ? 'none' : 'number'
}

const number = /^\s*[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*$/
const exponent = /^\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*$/i

function findUsual(words: readonly Token[], affinity: Affinity): SqliteColumn['usual'] {
  const at = words.findIndex((each) => keyword(each) === 'DEFAULT')
  const [first, second] = words.slice(at + 1)
  if (at < 0 || keyword(first) === 'NULL') return undefined
  if (first?.isQuoted) {
    if (affinity !== 'number' || !exponent.test(first.text)) return first.text
    return number.test(first.text) ? Number(first.text) : null
  }
  const isTruth = keyword(first) === 'TRUE' || keyword(first) === 'FALSE'
  const isSigned = first?.text === '-' || first?.text === '+'
  const digits = isTruth
    ? Number(keyword(first) === 'TRUE').toString()
    : `${first?.text}${isSigned ? second?.text : ''}`
  if (!number.test(digits)) return null
  if (affinity !== 'text' || !digits.includes('.')) return Number(digits)
  // As a text it keeps its digits.
  return digits.replace('+', '')
}
