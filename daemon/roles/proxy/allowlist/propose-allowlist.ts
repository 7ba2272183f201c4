// Proposes an allowlist from an OpenAPI document, for a person to look through: nothing is allowed by itself.
import * as z from 'zod'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { allowlistMethods, parseAllowlist, parseRule } from './rule.ts'

/** `text`: an allowlist with comments, good to be read back; `problems`: what of the document could not become a rule. */
export type AllowlistProposal = { readonly text: string; readonly rules: number; readonly problems: readonly string[] }

const operationSchema = z.looseObject({
  summary: z.string().optional(),
  operationId: z.string().optional(),
  deprecated: z.boolean().optional(),
  security: z.array(z.looseObject({})).optional(),
})

const documentSchema = z.looseObject({
  openapi: z.string().regex(/^3\./, 'must be 3.x: an OpenAPI 3 document'),
  servers: z
    .array(
      z.looseObject({
        url: z.string(),
        variables: z.record(z.string(), z.looseObject({ default: z.string() })).optional(),
      }),
    )
    .optional(),
  security: z.array(z.looseObject({})).optional(),
  paths: z.record(z.string(), z.looseObject({ $ref: z.string().optional() })),
})

type OpenapiDocument = z.output<typeof documentSchema>

const verbs = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'query'] as const

/**
 * Of a parsed OpenAPI 3.x document. GET, HEAD and POST become rules, sorted, each after a comment with what the document says
 * of it; other methods are named as not allowed. Paths come after the path of the first server.
 */
export function proposeAllowlist(document: unknown): AllowlistProposal {
  const parsed = parseWithSchema(documentSchema, document)
  if (!parsed.success)
    return { text: '', rules: 0, problems: [`no OpenAPI document: ${formatFieldErrors(parsed.errors)}`] }
  const base = readBasePath(parsed.data)
  const entries = Object.entries(parsed.data.paths)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, item]) =>
      verbs.filter((verb) => verb in item).map((verb) => buildEntry(verb, base + path, item[verb], parsed.data)),
    )
  const refs = Object.entries(parsed.data.paths).filter(([, { $ref }]) => $ref !== undefined)
  const text = formatProposal(entries)
  return {
    text,
    rules: parseAllowlist(text).rules.length,
    problems: [
      ...refs.map(([path]) => `${toOneLine(path)}: a reference to another document, which is not followed`),
      ...entries.flatMap(({ rule, problem }) => (problem ? [`${rule}: ${problem}`] : [])),
    ],
  }
}

type ProposalEntry = {
  readonly rule: string
  readonly says: string
  readonly isWrite: boolean
  readonly problem?: string
  readonly isAllowed: boolean
}

function buildEntry(verb: string, path: string, operation: unknown, { security }: OpenapiDocument): ProposalEntry {
  const method = verb.toUpperCase()
  const rule = `${method} ${toOneLine(path)}`
  const about = parseWithSchema(operationSchema, operation)
  const isAllowed = allowlistMethods.some((known) => known === method)
  const says = about.success ? describeOperation(about.data, security) : 'the operation is not well formed'
  const entry = { rule, says, isWrite: method === 'POST', isAllowed }
  if (!isAllowed) return entry
  // What needs escapes, or a name within a segment, is for the person who looks it through.
  const asRule = parseRule(rule)
  const fault = /[,\s]/.test(path) ? 'the path has a comma or a space' : 'says' in asRule ? asRule.says : undefined
  return fault ? { ...entry, problem: fault, isAllowed: false } : entry
}

function describeOperation(
  { summary, operationId, deprecated, security }: z.output<typeof operationSchema>,
  general: OpenapiDocument['security'],
) {
  const required = security ?? general ?? []
  const isOpen = required.length === 0 || required.some((each) => Object.keys(each).length === 0)
  const words = [
    toOneLine(summary ?? operationId ?? 'no summary'),
    isOpen ? 'needs no credentials' : `needs ${toOneLine(required.flatMap((each) => Object.keys(each)).join(', '))}`,
    deprecated ? ['deprecated'] : [],
  ]
  return words.flat().join('; ')
}

function formatProposal(entries: readonly ProposalEntry[]): string {
  const seen = new Set<string>()
  const lines = (of: readonly ProposalEntry[]) => of.flatMap(({ rule, says }) => [`# ${says}`, formatOnce(rule, seen)])
  const allowed = entries.filter(({ isAllowed }) => isAllowed)
  const others = entries.filter(({ isAllowed }) => !isAllowed)
  return [
    '# Each rule below would be open to anyone. Take away what nobody outside needs.',
    ...lines(allowed.filter(({ isWrite }) => !isWrite)),
    ...formatSection(
      '# Writes by anyone: the backend alone looks at what is in them.',
      lines(allowed.filter(({ isWrite }) => isWrite)),
    ),
    ...formatSection(
      '# Not allowed:',
      others.map(({ rule, problem }) => `#   ${rule}${problem ? `: ${problem}` : ''}`),
    ),
    '',
  ].join('\n')
}

function formatSection(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

/** Two paths of a document may differ in the names of their open places alone. */
function formatOnce(rule: string, seen: Set<string>): string {
  const shape = rule.replaceAll(/\{[^}]*\}/g, '{}')
  if (seen.has(shape)) return `# ${rule} (the same requests as a rule above)`
  seen.add(shape)
  return rule
}

function readBasePath({ servers }: OpenapiDocument): string {
  const [server] = servers ?? []
  if (!server) return ''
  const url = server.url.replaceAll(/\{([^}]+)\}/g, (_, name: string) => server.variables?.[name]?.default ?? '')
  const path = URL.canParse(url, 'http://server.invalid') ? new URL(url, 'http://server.invalid').pathname : ''
  return path.replace(/\/+$/, '')
}

/** Texts of the document are a stranger's: nothing of them may begin a line. */
function toOneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
