// The verb of a request to change something, so that the words of its object alone find no tool that reads.
import type { McpTool } from '../../../../kernel/api/mcp-tools.ts'
import { splitTerms } from './split-terms.ts'

/** Before a verb: words that are polite, or that turn a request into a question. */
const leadingWords: ReadonlySet<string> = new Set(
  (
    'can could hello hey hi i just kindly let let’s lets like may me must need now ok please should so then to us want we ' +
    'well will would you'
  ).split(' '),
)

/** As they begin a request. Words that name objects or states as often (open, close, link, test, order) are not among them. */
const changeVerbs: ReadonlySet<string> = new Set(
  (
    'abort ack acknowledge add approve archive assign attest cancel change clear confirm create delete deploy destroy disable ' +
    'discard dismiss drop edit enable erase forget halt import insert install kill launch merge modify move mute overwrite ' +
    'pause publish purge quarantine reassign reject remove rename replace reset restart restore resume revoke rotate send ' +
    'silence start stop submit terminate trigger undo uninstall unmerge unpause update upload wipe withdraw write'
  ).split(' '),
)

/** By the words of a message, in lower case and in their order; undefined where it requests no change. */
export function findChangeVerb(words: readonly string[]): string | undefined {
  const first = words.find((word) => !leadingWords.has(word))
  return first !== undefined && changeVerbs.has(first) ? first : undefined
}

/** Whether the tool does by its name, or by its description, what the verb says. */
export function doesVerb({ name, description }: Pick<McpTool, 'name' | 'description'>, verb: string): boolean {
  const [stem] = splitTerms(verb)
  const [, own = name] = name.split('__', 2)
  const [does] = splitTerms(description)
  return stem !== undefined && (does === stem || splitTerms(own.replaceAll('_', ' ')).includes(stem))
}
