// Man pages (man(7)) of all commands, rendered from their definitions.
import type { AnyCommandDefinition, Param, Params } from './command.ts'
import { commandGroups } from './command-groups.ts'

/** Text of each page by the name of its file: `platform.1`, and `platform-keys-list.1` for each command. */
export function renderManual(definitions: readonly AnyCommandDefinition[], version: string): Record<string, string> {
  const pages = definitions.map((definition) => [
    pageFile(definition.words),
    renderPage(definition, definitions, version),
  ])
  return { [pageFile('')]: renderOverview(definitions, version), ...Object.fromEntries(pages) }
}

function pageName(words: string): string {
  return ['platform', ...words.split(' ')].filter(Boolean).join('-')
}

function pageFile(words: string): string {
  return `${pageName(words)}.1`
}

function renderOverview(definitions: readonly AnyCommandDefinition[], version: string): string {
  return formatPage('', version, [
    ...['.SH NAME', 'platform \\- run a site, and work with it'],
    ...['.SH SYNOPSIS', '.B platform', '.I COMMAND', '[\\fIOPTION\\fR ...]'],
    ...[
      '.SH COMMANDS',
      ...definitions.flatMap(({ words, summary }) => ['.TP', `.B ${escapeText(words)}`, escapeLine(summary)]),
    ],
    ...[
      '.SH GROUPS',
      ...Object.entries(commandGroups).flatMap(([words, summary]) => [
        '.TP',
        `.B ${escapeText(words)}`,
        escapeLine(summary),
      ]),
    ],
    ...exitStatus,
    ...['.SH SEE ALSO', formatReferences(definitions.map(({ words }) => words))],
  ])
}

function renderPage(definition: AnyCommandDefinition, all: readonly AnyCommandDefinition[], version: string): string {
  const { words, summary, notes, example } = definition
  const positionals: Params = definition.positionals ?? {}
  const options: Params = definition.options ?? {}
  const group = words.split(' ')[0] ?? ''
  const siblings = all.map((other) => other.words).filter((other) => other !== words && other.split(' ')[0] === group)
  return formatPage(words, version, [
    ...['.SH NAME', `${escapeText(pageName(words))} \\- ${escapeText(lowerFirst(summary))}`],
    ...[
      '.SH SYNOPSIS',
      `.B platform ${escapeText(words)}`,
      ...Object.entries(positionals).map(formatPositional),
      '[\\fIOPTION\\fR ...]',
    ],
    ...['.SH DESCRIPTION', escapeLine(`${summary}.`), ...formatParagraphs(notes)],
    ...(Object.keys(positionals).length > 0
      ? ['.SH ARGUMENTS', ...Object.entries(positionals).flatMap(formatArgument)]
      : []),
    ...[
      '.SH OPTIONS',
      ...Object.entries(options).flatMap(formatOption),
      '.TP',
      '\\fB\\-h\\fR, \\fB\\-\\-help\\fR',
      'Show help for the command.',
    ],
    ...exitStatus,
    ...['.SH EXAMPLES', '.nf', ...example.split('\n').map(escapeLine), '.fi'],
    ...['.SH SEE ALSO', formatReferences(['', ...siblings])],
  ])
}

const exitStatus = [
  '.SH EXIT STATUS',
  ...[
    ['0', 'done'],
    ['1', 'failed'],
    ['2', 'wrong usage'],
    ['3', 'refused'],
    ['4', 'not reachable'],
    ['5', 'found a problem'],
    ['6', 'a result of poor estimated quality'],
  ].flatMap(([code, meaning]) => ['.TP', `.B ${code}`, `${meaning}`]),
]

function formatPage(words: string, version: string, lines: readonly string[]): string {
  return [`.TH ${pageName(words).toUpperCase()} 1 "" "platform ${version}" "Commands of platform"`, ...lines, ''].join(
    '\n',
  )
}

function formatPositional([name, param]: [string, Param<unknown>]): string {
  const text = `\\fI${escapeText(param.metavar ?? name)}\\fR${param.isRest ? ' ...' : ''}`
  return param.isRequired ? text : `[${text}]`
}

function formatArgument([name, param]: [string, Param<unknown>]): string[] {
  return ['.TP', `.I ${escapeText(param.metavar ?? name)}`, escapeLine(`${param.help}.`)]
}

function formatOption([name, param]: [string, Param<unknown>]): string[] {
  const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const value = param.metavar === undefined ? '' : ` \\fI${escapeText(param.metavar)}\\fR${param.isRest ? ' ...' : ''}`
  return [
    '.TP',
    `\\fB${escapeText(option)}\\fR${value}`,
    escapeLine(`${param.help}${param.isRequired ? ' (required)' : ''}.`),
  ]
}

function formatParagraphs(notes: string | undefined): string[] {
  return (notes?.split(/\n\n+/) ?? []).flatMap((paragraph) => ['.PP', escapeLine(paragraph.replaceAll('\n', ' '))])
}

function formatReferences(pages: readonly string[]): string {
  return pages.map((words) => `\\fB${escapeText(pageName(words))}\\fR(1)`).join(',\n')
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

/** Characters outside ASCII by their number, since a console may lack the encoding; hyphens as they are typed. */
function escapeText(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(
      /[^\x20-\x7e]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}

/** A line that begins with a full stop or a quote would be a request. */
function escapeLine(text: string): string {
  const escaped = escapeText(text)
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped
}
