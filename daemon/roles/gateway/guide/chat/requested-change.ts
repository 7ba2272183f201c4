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
  if (!words.some((word) => stems.some((stem) => word.startsWith(stem)))) return false
  const said = [message, ...earlier].join('\n')
  return listIds(input).every((id) => said.includes(id))
}

/** Texts of fields that name an object. */
function listIds(input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input)
    .filter(([field]) => /(^|_)(ids?|snapshot|supersedes)$/.test(field))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .map(String)
}
