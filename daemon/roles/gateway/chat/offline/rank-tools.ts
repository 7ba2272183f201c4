// Ranks tools by the words of a message: BM25 over name, description, fields and service, then the fit of effect and arguments.
import type { McpTool } from '../../../../kernel/api/mcp-tools.ts'
import { isReadOperation } from '../../../../kernel/operation/operation.ts'
import { listFields, type ToolField } from './list-fields.ts'
import { splitTerms } from './split-terms.ts'

export type RankedTool = { readonly tool: McpTool; readonly score: number }

export type MessageTraits = {
  readonly terms: readonly string[]
  /** Whether it has values besides its words, such as an id. */
  readonly hasValues: boolean
  /** Whether it begins as a question, or as a request to see something: then no change is meant. */
  readonly isQuestion: boolean
}

const questionWords: ReadonlySet<string> = new Set(
  (
    'are can compare count did display do does explain find get give has have how is list look print search see show tell ' +
    'view was were what when where which who why'
  ).split(' '),
)

/** By its words, in lower case and in their order. */
export function isQuestion(words: readonly string[]): boolean {
  return questionWords.has(words.find((word) => !politeWords.has(word)) ?? '')
}

const politeWords: ReadonlySet<string> = new Set('hello hi now ok please so then well'.split(' '))

type IndexedTool = {
  /** Weight of a term in the texts of the tool. */
  readonly weights: ReadonlyMap<string, number>
  readonly length: number
  readonly name_terms: readonly string[]
  /** First word of the description, which says what the tool does. */
  readonly verb: string | undefined
  readonly requires: boolean
}

/** Robertson and Zaragoza, The Probabilistic Relevance Framework (2009): k1 1.2; b low, since descriptions differ by style. */
const [k1, b] = [1.2, 0.4]
const weights = { name: 3, description: 1.5, field: 0.4, service: 0.4 }

/** Tools are indexed once: definitions do not change. */
const indexed = new WeakMap<McpTool, IndexedTool>()

/** Best first; none that shares no word with the message. A computation for `runInSlices`: it yields after each tool. */
export function* rankTools(tools: readonly McpTool[], traits: MessageTraits): Generator<undefined, RankedTool[]> {
  const entries: IndexedTool[] = []
  for (const tool of tools) {
    entries.push(indexTool(tool))
    yield
  }
  const mean = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length)
  const wanted = [...new Set(traits.terms)].slice(0, 64)
  const rarity = new Map(wanted.map((term) => [term, computeRarity(entries, term)]))
  yield
  const ranked: RankedTool[] = []
  for (const [at, tool] of tools.entries()) {
    const entry = entries[at]
    const score = entry ? scoreTool(entry, wanted, rarity, mean) * fitOf(tool, entry, wanted, traits) : 0
    if (score > 0) ranked.push({ tool, score })
    yield
  }
  return ranked.toSorted((one, other) => other.score - one.score || (one.tool.name < other.tool.name ? -1 : 1))
}

function computeRarity(entries: readonly IndexedTool[], term: string): number {
  const holders = entries.filter((entry) => entry.weights.has(term)).length
  return Math.log(1 + (entries.length - holders + 0.5) / (holders + 0.5))
}

function scoreTool(
  { weights: of, length, name_terms }: IndexedTool,
  wanted: readonly string[],
  rarity: ReadonlyMap<string, number>,
  mean: number,
): number {
  const found = wanted.filter((term) => of.has(term))
  const named = name_terms.filter((term) => wanted.includes(term)).length
  // One word that the tool only mentions says too little.
  if (named === 0 && found.length < 2) return 0
  let score = 0
  for (const term of found) {
    const weight = of.get(term) ?? 0
    score += ((rarity.get(term) ?? 0) * weight * (k1 + 1)) / (weight + k1 * (1 - b + (b * length) / mean))
  }
  // Of two tools with the words, the one whose name has nothing else is meant.
  return score * (1 + named / Math.max(1, name_terms.length))
}

/**
 * A message that names no change means a tool that reads; one without values, a tool that needs none: of several objects the
 * list, of a single one the object itself.
 */
function fitOf(
  { target }: McpTool,
  { verb, name_terms, requires }: IndexedTool,
  wanted: readonly string[],
  { hasValues, isQuestion: isAsking }: MessageTraits,
): number {
  const last = name_terms.at(-1)
  const isNamed = (verb !== undefined && wanted.includes(verb)) || (last !== undefined && wanted.includes(last))
  const effect = isReadOperation(target.operation) || (isNamed && !isAsking) ? 1 : 0.5
  const plain = last === (hasValues ? 'get' : 'list') ? 1.15 : 1
  return effect * plain * (requires === hasValues ? 1 : requires ? 0.75 : 0.9)
}

function indexTool(tool: McpTool): IndexedTool {
  const known = indexed.get(tool)
  if (known) return known
  const [service = '', name = tool.name] = tool.name.includes('__') ? tool.name.split('__', 2) : ['', tool.name]
  const fields: readonly ToolField[] = listFields(tool.input_schema)
  const name_terms = splitTerms(name.replaceAll('_', ' ').replace(/\bdata(?=[a-z]{4})/, ''))
  const description = splitTerms(tool.description)
  const found = new Map<string, number>()
  const add = (terms: readonly string[], weight: number) => {
    for (const term of terms) found.set(term, (found.get(term) ?? 0) + weight)
  }
  add(name_terms, weights.name)
  add(description, weights.description)
  // A field is about the tool once, however often its words occur.
  add([...new Set(fields.flatMap((field) => splitTerms(field.name.replaceAll('_', ' '))))], weights.field)
  add(splitTerms(service.replaceAll('-', ' ').replace(/\bservice\b/, '')), weights.service)
  const length = weights.name * name_terms.length + weights.description * description.length
  const entry = {
    ...{ weights: found, length, name_terms, verb: description[0] },
    requires: fields.some(({ isRequired }) => isRequired),
  }
  indexed.set(tool, entry)
  return entry
}
