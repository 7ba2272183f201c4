// Proposes an allowlist from an OpenAPI document. A person reviews the proposal; nothing is allowed by itself.
import * as z from 'zod'
import { formatFieldErrors, parseWithSchema } from '../../../kernel/error/parsing.ts'
import { allowlistMethods, parseAllowlist, parseRule } from './rule.ts'

/** `text`: a valid allowlist with comments; `problems`: parts of the document that could not become a rule. */
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
 * Proposes rules for a parsed OpenAPI 3.x document. GET, HEAD and POST become sorted rules, each after a comment with
 * its description in the document; other methods are listed as not allowed. Paths are relative to the path of the
 * first server.
 */
export function proposeAllowlist(document: unknown): AllowlistProposal {
  const parsed = parseWithSchema(documentSchema, document)
  if (!parsed.success)
    return { text: '', rules: 0, problems: [`not an OpenAPI document: ${formatFieldErrors(parsed.errors)}`] }
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
      ...refs.map(([path]) => `${toOneLine(path)}: references to other documents are not followed`),
      ...entries.flatMap(({ rule, problem }) => (problem ? [`${rule}: ${problem}`] : [])),
    ],
  }
}

type ProposalEntry = {
  readonly rule: string
  readonly description: string
  readonly isWrite: boolean
  readonly problem?: string
  readonly isAllowed: boolean
}

function buildEntry(verb: string, path: string, operation: unknown, { security }: OpenapiDocument): ProposalEntry {
  const method = verb.toUpperCase()
  const rule = `${method} ${toOneLine(path)}`
  const details = parseWithSchema(operationSchema, operation)
  const isAllowed = allowlistMethods.some((allowed) => allowed === method)
  const description = details.success ? describeOperation(details.data, security) : 'the operation is not well formed'
  const entry = { rule, description, isWrite: method === 'POST', isAllowed }
  if (!isAllowed) return entry
  // A path that needs escapes, or a name within a segment, is left to the person who reviews the proposal.
  const asRule = parseRule(rule)
  const fault = /[,\s]/.test(path)
    ? 'the path has a comma or a space'
    : 'message' in asRule
      ? asRule.message
      : undefined
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
  const formattedShapes = new Set<string>()
  const lines = (section: readonly ProposalEntry[]) =>
    section.flatMap(({ rule, description }) => [`# ${description}`, formatOnce(rule, formattedShapes)])
  const allowed = entries.filter(({ isAllowed }) => isAllowed)
  const notAllowed = entries.filter(({ isAllowed }) => !isAllowed)
  return [
    '# Each rule below would be open to anyone. Remove every rule that outside callers do not need.',
    ...lines(allowed.filter(({ isWrite }) => !isWrite)),
    ...formatSection(
      '# Writes by anyone: only the backend validates their content.',
      lines(allowed.filter(({ isWrite }) => isWrite)),
    ),
    ...formatSection(
      '# Not allowed:',
      notAllowed.map(({ rule, problem }) => `#   ${rule}${problem ? `: ${problem}` : ''}`),
    ),
    '',
  ].join('\n')
}

function formatSection(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

/**
 * Formats a rule, or a comment for a duplicate: two paths of a document may differ only in the names of their
 * parameters.
 */
function formatOnce(rule: string, formattedShapes: Set<string>): string {
  const shape = rule.replaceAll(/\{[^}]*\}/g, '{}')
  if (formattedShapes.has(shape)) return `# ${rule} (the same requests as a rule above)`
  formattedShapes.add(shape)
  return rule
}

function readBasePath({ servers }: OpenapiDocument): string {
  const [server] = servers ?? []
  if (!server) return ''
  const url = server.url.replaceAll(/\{([^}]+)\}/g, (_, name: string) => server.variables?.[name]?.default ?? '')
  const path = URL.canParse(url, 'http://server.invalid') ? new URL(url, 'http://server.invalid').pathname : ''
  return path.replace(/\/+$/, '')
}

/** The text on one line: texts of the document are untrusted and must not begin a line. */
function toOneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
