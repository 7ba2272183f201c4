// The commands that read a service, and words by which each of them is typed.
import type { AnyCommandDefinition, Param } from '../../../cli/program/command.ts'
import { commandCatalogue } from '../../../cli/program/command-catalogue.ts'

/** Commands that stay until they are stopped, or read a stream; test/cli/hostile-screens.test.tsx has the screens. */
const lasting = new Set(['admin', 'consensus watch', 'filedrop purge', 'filedrop resend'])

export async function listServiceCommands(): Promise<AnyCommandDefinition[]> {
  const all = await Promise.all(Object.values(commandCatalogue).map(async (load) => (await load()).definition))
  return all.filter(({ options, words }) => options !== undefined && 'url' in options && !lasting.has(words))
}

/** The words of a command with a value for each parameter that it needs. `file`: an input file. */
export function typeCommand(
  { words, positionals = {}, options = {} }: AnyCommandDefinition,
  file: string,
  url: string,
): string[] {
  const places = Object.entries(positionals as Record<string, Param<unknown>>).map(([name, param]) =>
    findValue(param, name, file),
  )
  const required = Object.entries(options as Record<string, Param<unknown>>)
    .filter(([, { isRequired }]) => isRequired)
    .flatMap(([name, param]) => [`--${name.replaceAll('_', '-')}`, findValue(param, name, file)])
  return [...words.split(' '), ...places, ...required, '--url', url]
}

/** A value that the parameter accepts. */
function findValue({ parse, help }: Param<unknown>, name: string, file: string): string {
  // Of a new file, beside the other one.
  if (name === 'out') return `${file}.out`
  const choices = /\(([^()]*)\)[^()]*$/.exec(help)?.[1]?.split(/, /) ?? []
  const candidates = name.includes('file') || name === 'input' || name === 'records' ? [file] : []
  for (const candidate of [...candidates, ...choices, 'x', '1', '0.5', '1h', '2026-01-01']) {
    try {
      parse(candidate)
      return candidate
    } catch {}
  }
  return 'x'
}
