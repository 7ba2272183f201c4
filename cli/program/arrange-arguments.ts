// Arranges typed words so that a value may begin with "-": fingerprints and key ids are base64url, and one in 64 does.
import type { AnyCommandDefinition, Param, Params } from './command.ts'

/**
 * The words behind those of the command: options first, each with its value joined by "=", then `--` and the positional
 * values. A word that begins with "-" and is not an option of the command counts as a positional value where one is still
 * missing and the word cannot be a misspelt option; others stay among the options, for the parser to refuse.
 */
export function arrangeArguments(definition: AnyCommandDefinition, typed: readonly string[]): string[] {
  const known = knownOptions(definition.options ?? {})
  const positionals: Param<unknown>[] = Object.values(definition.positionals ?? {})
  const capacity = positionals.some(({ isRest }) => isRest) ? Number.POSITIVE_INFINITY : positionals.length
  const options: string[] = []
  const values: string[] = []
  const queue = [...typed]
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') {
      values.push(...queue)
      break
    }
    const param = known.get(word)
    if (param) options.push(...joinValues(word, param, queue))
    else if (isPositional(word) || (isDashedValue(word) && values.length < capacity)) values.push(word)
    else options.push(word)
  }
  return values.length === 0 ? options : [...options, '--', ...values]
}

/** The option as it is typed; also of the parser that builds its options from the same definition. */
export function optionWord(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function knownOptions(options: Params): Map<string, Param<unknown>> {
  return new Map(Object.entries(options).map(([name, param]) => [optionWord(name), param]))
}

/** Takes the values of the option from the words behind it. An option without its value stays alone, to be refused. */
function joinValues(word: string, { metavar, isRest }: Param<unknown>, queue: string[]): string[] {
  const next = queue[0]
  if (metavar === undefined || next === undefined) return [word]
  if (!isRest) return [`${word}=${queue.shift()}`]
  const joined: string[] = []
  while (queue[0] !== undefined && (isPositional(queue[0]) || isDashedValue(queue[0])))
    joined.push(`${word}=${queue.shift()}`)
  return joined.length === 0 ? [word] : joined
}

function isPositional(word: string): boolean {
  return !word.startsWith('-') || word === '-'
}

const fingerprint_characters = 43

/** No option has a capital letter, a digit or an underscore, nor as many characters as a fingerprint. */
function isDashedValue(word: string): boolean {
  return /^-[A-Za-z0-9_-]*$/.test(word) && (/[A-Z0-9_]/.test(word) || word.length === fingerprint_characters)
}
