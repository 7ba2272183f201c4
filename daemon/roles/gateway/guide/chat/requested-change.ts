// Whether an administrator has requested a change in plain words: observations that a model reads cannot do it for them.

/** Words for the effect of a tool; those of a person, in any form that the stem begins. */
const effectWords: Readonly<Record<string, readonly string[]>> = {
  promote: ['promot'],
  demote: ['demot'],
  forget: ['forget', 'delet', 'remov'],
  rollback: ['rollback', 'roll', 'revert', 'restor'],
  trigger: ['trigger', 'synthes', 'learn'],
  pause: ['paus', 'stop', 'freez'],
  resume: ['resum', 'continu'],
}

/** A message with one of these may mean the opposite: the request must be put without it. */
const negations: ReadonlySet<string> = new Set(['not', 'never', 'no', 'don', 'dont', 'cannot', 'without', 'avoid'])

/** Of tools whose input names no object: a word for it, beside that for the effect, which may mean anything. */
const objectWords: Readonly<Record<string, readonly string[]>> = {
  curator: ['curator'],
  synthesis: ['synthes', 'learn'],
}

/** The words of a name such as `guide_rollback_artifact`. */
const partsOf = (tool: string) => tool.split('_')

/**
 * Whether the message has a word for the effect of the tool, and the id of every object in its input stands in the message or an
 * earlier one of the same person.
 */
export function isRequestedChange(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  message: string,
  earlier: readonly string[],
): boolean {
  const words = message.toLowerCase().split(/[^\p{L}\d]+/u)
  const effect = partsOf(tool).find((part) => Object.hasOwn(effectWords, part))
  const stems = effect === undefined ? [] : (effectWords[effect] ?? [])
  const hasWord = (of: readonly string[]) => words.some((word) => of.some((stem) => word.startsWith(stem)))
  if (!hasWord(stems) || words.some((word) => negations.has(word))) return false
  const object = objectWords[partsOf(tool).at(-1) ?? '']
  if (object && !hasWord(object)) return false
  const texts = [message, ...earlier]
  return listIds(input).every((id) => texts.some((text) => namesId(text, id)))
}

/** As a whole: an id is not named by a longer one that it is a part of. */
function namesId(text: string, id: string): boolean {
  if (id === '') return false
  const isPart = (character: string | undefined) => character !== undefined && /[\p{L}\d_]/u.test(character)
  for (let at = text.indexOf(id); at >= 0; at = text.indexOf(id, at + 1))
    if (!isPart(text[at - 1]) && !isPart(text[at + id.length])) return true
  return false
}

/** Texts of fields that name an object, or its version. */
function listIds(input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input)
    .filter(([field]) => /(^|_)(ids?|snapshot|supersedes|version)$/.test(field))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .map(String)
}
