// Holds the names: a type has one meaning in the whole product, and words that only this project understood stay retired.
import { test } from 'vitest'
import { expectNone } from './support/repository/expect-none.ts'
import { listRepositoryFiles, readSource } from './support/repository/source-tree.ts'

const sources = listRepositoryFiles()
  .filter((file) => /^(adapters|cli|daemon|test|scripts)\/.*\.(ts|tsx)$/.test(file))
  .map(readSource)
const product = sources.filter(({ path }) => /^(adapters|cli|daemon)\//.test(path) && !/\.test\.tsx?$/.test(path))

/** Words of names that are not the field's, each with what to write; plurals included. Names are split at capitals, `_`, `-`. */
const retired: Readonly<Record<string, string>> = {
  asked: 'requested, or the query',
  carriage: 'inbound delivery',
  chore: 'housekeeping',
  debt: 'pending, outbox',
  deed: 'job, or audit entry',
  desk: 'listener context, receive context',
  door: 'proxy, public listener',
  doorstep: 'handshake limiter',
  ferry: 'link pump',
  flight: 'active request, transaction',
  furnish: 'wire',
  guest: 'client connection',
  house: 'site runtime',
  mend: 'repair',
  office: 'role directory',
  owe: 'outbox, pending',
  owed: 'outbox, pending',
  sight: 'read scope',
  stray: 'unrouted',
  surroundings: 'role environment',
  tended: 'retried task',
  told: 'reported, notified',
  untold: 'unreported, pending',
  workshop: 'role context',
}

/** Names with a retired word that stay. Stored or sent: renaming needs a migration. */
const storedNames = new Set(['owes', 'to_tell', 'told', 'told_by', 'untold'])

/** Types that say nothing of what they hold. */
const emptyTypes =
  /^(About|Around|Asked|Asking|Begun|Beside|Done|Ended|Found|Given|Giving|Had|Held|Here|Joined|Kept|Kind|Known|Left|Looked|Met|More|Named|Of|Other|Ours|Own|Place|Placed|Read|Said|Seen|Sent|Shown|Some|Stand|Standing|Taken|Taking|Tell|Telling|There|Told|Towards|Wanted|Way|Well|Where|Which|Who|Whose|Why|Written|Wrong)$/

test('no type name has two meanings', () => {
  const files = new Map<string, string[]>()
  for (const { path, declarations } of product) {
    for (const { name, isType } of declarations) {
      if (isType) files.set(name, [...(files.get(name) ?? []), path])
    }
  }
  expectNone([...files].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`))
})

test('no type is named by a participle, a pronoun or a bare adjective', () => {
  const wrong = sources.flatMap(({ path, declarations }) =>
    declarations
      .filter(({ name, isType }) => isType && emptyTypes.test(name))
      .map(({ name, line }) => `${path}:${line} ${name}`),
  )
  expectNone(wrong)
})

test('no retired word is in a name', () => {
  const wrong = sources.flatMap(({ path, declaredNames }) => [
    ...objections(path.replace(/^.*\//, '').replace(/\.\w+$/, '')).map((why) => `${path}: ${why}`),
    ...declaredNames.flatMap(({ name, line }) => objections(name).map((why) => `${path}:${line} ${name}: ${why}`)),
  ])
  expectNone(wrong)
})

function objections(name: string): string[] {
  if (storedNames.has(name.replace(/^_/, ''))) return []
  // A request in flight and a carriage return are the field's words.
  const words = name
    .replace(/in[_-]?flight|carriageReturn/i, '')
    .split(/(?<=[a-z0-9])(?=[A-Z])|[_.-]/)
    .map((word) => word.toLowerCase())
  return words.flatMap((word) => {
    const base = [word, word.replace(/s$/, ''), word.replace(/ies$/, 'y')].find((form) => Object.hasOwn(retired, form))
    return base === undefined ? [] : [`"${word}" is retired: ${retired[base]}`]
  })
}
