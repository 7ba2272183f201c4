// Holds the names: a type has one meaning in the whole product, and words that only this project understood stay retired.
import { test } from 'vitest'
import { expectNone } from './support/repository/expect-none.ts'
import { listRepositoryFiles, readSource } from './support/repository/source-tree.ts'

const sources = listRepositoryFiles()
  .filter((file) => /^(adapters|cli|daemon|test|scripts)\/.*\.(ts|tsx)$/.test(file))
  .map(readSource)
const product = sources.filter(({ path }) => /^(adapters|cli|daemon)\//.test(path) && !/\.test\.tsx?$/.test(path))

/** Words of names that are not the field's, each with what to write. A name is split at its capitals, `_` and `-`. */
const retired: Readonly<Record<string, string>> = {
  asked: 'requested, or the query',
  carriage: 'inbound delivery',
  chores: 'housekeeping',
  debt: 'pending, outbox',
  deed: 'job, or audit entry',
  desk: 'listener context, receive context',
  door: 'proxy, public listener',
  doorstep: 'handshake limiter',
  ferries: 'link pumps',
  ferry: 'link pump',
  flight: 'active request',
  furnish: 'wire',
  guest: 'client connection',
  house: 'site runtime',
  mend: 'repair',
  office: 'role directory',
  owe: 'outbox, pending',
  owed: 'outbox, pending',
  stray: 'unrouted',
  surroundings: 'role environment',
  tended: 'retried task',
  told: 'reported, notified',
  workshop: 'role context',
}

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
  const wrong = sources.flatMap(({ path, declarations }) => [
    ...objections(path.replace(/^.*\//, '').replace(/\.\w+$/, '')).map((why) => `${path}: ${why}`),
    ...declarations.flatMap(({ name, line }) => objections(name).map((why) => `${path}:${line} ${name}: ${why}`)),
  ])
  expectNone(wrong)
})

function objections(name: string): string[] {
  // A request in flight is the field's word.
  const words = name
    .replace(/in[_-]?flight/i, '')
    .split(/(?<=[a-z0-9])(?=[A-Z])|[_.-]/)
    .map((word) => word.toLowerCase())
  return words.flatMap((word) => (Object.hasOwn(retired, word) ? [`"${word}" is retired: ${retired[word]}`] : []))
}
