// The class of an intent: by the name in its schema, else by the words of the prompt; the same for the same text, on every site.
import { splitTerms } from '../../chat/offline/split-terms.ts'

/** Of an observation without an intent, such as a call of a tool that no message led to. */
export const unclassified_intent = 'unclassified'

const max_class_characters = 64

/** Stems of the actions that classes distinguish, by the words that people use for them. */
const actions: Readonly<Record<string, string>> = {
  analys: 'analyse',
  analyz: 'analyse',
  build: 'create',
  calculat: 'analyse',
  cancel: 'cancel',
  chang: 'update',
  check: 'check',
  compar: 'compare',
  comput: 'analyse',
  count: 'count',
  creat: 'create',
  delet: 'delete',
  describ: 'explain',
  detect: 'find',
  edit: 'update',
  explain: 'explain',
  export: 'export',
  fetch: 'find',
  find: 'find',
  generat: 'create',
  import: 'import',
  list: 'find',
  load: 'import',
  mak: 'create',
  merg: 'merge',
  open: 'create',
  plan: 'plan',
  predict: 'predict',
  register: 'create',
  resolv: 'resolve',
  run: 'run',
  search: 'find',
  send: 'send',
  start: 'run',
  stop: 'cancel',
  submit: 'send',
  summari: 'summarise',
  summariz: 'summarise',
  summaris: 'summarise',
  train: 'train',
  transform: 'transform',
  updat: 'update',
  validat: 'check',
  verify: 'check',
}
const default_action = 'find'
/** Words of the prompt besides its action. */
const max_subjects = 2

/** The fields of an intent schema that may name it, in this order. */
const nameFields = ['intent', 'name', 'title', '$id'] as const

/** Undefined where the schema has no name. */
export function classOfSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of nameFields) {
    const name = Object.hasOwn(schema, field) ? schema[field] : undefined
    if (typeof name !== 'string') continue
    const words = name
      .slice(0, 1_024)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
    if (words) return words.join('_').slice(0, max_class_characters).toWellFormed()
  }
  return undefined
}

/** `<action>_<subject>[_<subject>]`: the first words that are not an action, in the order of the alphabet. */
export function classOfPrompt(prompt: string): string {
  const terms = splitTerms(prompt)
  const action = terms.find((term) => Object.hasOwn(actions, term))
  const subjects = [...new Set(terms.filter((term) => !Object.hasOwn(actions, term)))].slice(0, max_subjects).sort()
  if (action === undefined && subjects.length === 0) return unclassified_intent
  const verb = action === undefined ? default_action : (actions[action] ?? default_action)
  return [verb, ...subjects].join('_').slice(0, max_class_characters).toWellFormed()
}

/** The class of a message with its schema, which may be absent. */
export function classifyIntent(prompt: string, schema: Readonly<Record<string, unknown>> | undefined): string {
  return (schema && classOfSchema(schema)) ?? classOfPrompt(prompt)
}
