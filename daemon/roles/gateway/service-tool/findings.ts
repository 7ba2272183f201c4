// Marks of definitions that were written to mislead a model, for the administrator who reviews them. They prove nothing:
// the review by a person, and the digest of what that person has read, are the protection.
// Sources of the cases: Invariant Labs, "MCP Security Notification: Tool Poisoning Attacks" (2025); Trail of Bits, "Deceiving
// users with ANSI terminal codes in MCP" (2025); Unicode Technical Report 36 for characters that show nothing.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { collectTexts } from '../guardrail/collect-texts.ts'
import type { ListedTool } from './rules.ts'

/** `hidden_text`: characters that people do not see, or that a terminal obeys. A tool with them cannot be accepted. */
export const findingKinds = [
  'hidden_text',
  'instruction',
  'secrecy',
  'credential',
  'other_tool',
  'encoded_text',
  'long_text',
] as const
type FindingKind = (typeof findingKinds)[number]

/** `excerpt`: one line, with each misleading character as an escape. */
export type ToolFinding = { readonly kind: FindingKind; readonly excerpt: string }

/** Characters of an excerpt, before its escapes. */
const excerpt_chars = 80
const long_text_chars = 4_096
const max_findings = 32

/** Line ends and tabs are ordinary in a text; some scripts and emoji need joiners and U+FE0F. */
export const hiddenText = /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\n\r\t\u200c\u200d\ufe0f]]/v

/** Every expression takes time in proportion to the text: no repetition stands within another one. */
const expressions: readonly (readonly [FindingKind, RegExp])[] = [
  ['hidden_text', hiddenText],
  ['instruction', /<\/?\s{0,4}(important|system|secret|instructions?|assistant|critical|admin)\s{0,4}>/i],
  [
    'instruction',
    /\b(ignore|disregard|forget|override)\s{1,4}(all\s{1,4}|any\s{1,4})?(previous|prior|above|earlier|other|safety)\b/i,
  ],
  [
    'instruction',
    /\b(before|after|when|whenever)\s{1,4}(using|calling|invoking|you\s{1,4}(use|call|invoke))\s{1,4}(this|any|another|other|the)\b/i,
  ],
  [
    'instruction',
    /\b(you\s{1,4}(must|should|have\s{1,4}to)\s{1,4}(first|always|also)|always\s{1,4}(call|use|invoke|run)|must\s{1,4}be\s{1,4}(called|used|run)\s{1,4}(first|before))\b/i,
  ],
  ['instruction', /\b(system|developer)\s{1,4}prompt\b/i],
  [
    'secrecy',
    /\b(do\s{1,4}not|don['’]?t|never|without)\s{1,4}(tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|alert|alerting|show|showing)\b/i,
  ],
  ['secrecy', /\b(user|human)\s{1,4}(must|should|will)\s{1,4}not\s{1,4}(know|see|be)\b/i],
  [
    'credential',
    /(~|\$home|\/home\/|\/root|\/etc)\/[.\w/-]{1,80}|\.(ssh|aws|env|netrc|kube|cursor|gnupg)\b|\bid_(rsa|ed25519|ecdsa)\b|\bmcp\.json\b/i,
  ],
  ['credential', /\b(api[_ -]?keys?|access[_ -]?tokens?|passwords?|private\s{1,4}keys?|credentials?)\b/i],
  ['encoded_text', /[A-Za-z0-9+/_-]{200}/],
]

/** `others`: names of tools that other services offer, which a definition has no reason to speak of. */
export function findToolFindings(
  { name, definition }: ListedTool,
  others: ReadonlySet<string>,
): readonly ToolFinding[] {
  const texts = collectTexts({ name, ...definition })
  const found = texts.flatMap((text) => [
    ...findByExpression(text),
    ...findOtherTools(text, others),
    ...findLength(text),
  ])
  return keepDistinct(found)
}

/** The same marks of a value that a model will read, such as guidance of another site: a computation for `runInSlices`. */
export function* textFindings(value: unknown): Generator<undefined, readonly ToolFinding[], undefined> {
  const found: ToolFinding[] = []
  for (const text of collectTexts(value)) {
    found.push(...findByExpression(text), ...findLength(text))
    yield
  }
  return keepDistinct(found)
}

function keepDistinct(found: readonly ToolFinding[]): readonly ToolFinding[] {
  const distinct = new Map(found.map((finding) => [`${finding.kind} ${finding.excerpt}`, finding]))
  return [...distinct.values()].slice(0, max_findings)
}

function findByExpression(text: string): ToolFinding[] {
  return expressions.flatMap(([kind, expression]) => {
    const match = expression.exec(text)
    return match ? [{ kind, excerpt: excerptAt(text, match.index) }] : []
  })
}

/** Names without `_` are words of the language too often. */
function findOtherTools(text: string, others: ReadonlySet<string>): ToolFinding[] {
  const named = text.match(/[A-Za-z0-9]+_[A-Za-z0-9_]+/g)?.find((word) => others.has(word))
  return named === undefined ? [] : [{ kind: 'other_tool', excerpt: escapeLine(named) }]
}

function findLength(text: string): ToolFinding[] {
  return text.length > long_text_chars ? [{ kind: 'long_text', excerpt: `${text.length} characters` }] : []
}

/** From a little before the mark, without half a character at its ends. */
function excerptAt(text: string, index: number): string {
  const from = Math.max(0, index - excerpt_chars / 4)
  return escapeLine(text.slice(from, from + excerpt_chars).toWellFormed())
}
