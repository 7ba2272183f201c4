// People of a register with few and common values, of whom one in ten is entered twice with a slip: names and the parts of a birthday.
import { seededRandom } from '../random/seeded-random.ts'
import { syllables } from './generate-people.ts'

const fields = ['given', 'family', 'year', 'month', 'day'] as const

export type GeneratedRegister = {
  readonly csv: string
  /** Of each record, in the order of the file: its id, and the number of the person. */
  readonly truth: readonly (readonly [id: string, person: number])[]
}

/** A ninth of the people is entered twice. The same seed makes the same people. */
export function generateRegister(people: number, seed: number): GeneratedRegister {
  const by = seededRandom(seed)
  // The product of two draws is low more often than high: few names are common, and most are rare.
  const draw = (names: readonly string[]) =>
    names[Math.floor((by.below(1_000) * by.below(1_000) * names.length) / 1e6)] ?? ''
  const listNames = (count: number) =>
    Array.from({ length: count }, () => Array.from({ length: 2 + by.below(2) }, () => by.pick(syllables)).join(''))
  const [given, family] = [listNames(150), listNames(400)]
  const entered: { person: number; values: string[] }[] = []
  for (let person = 0; person < people; person++) {
    const birthday = [1920 + by.below(80), 1 + by.below(12), 1 + by.below(28)]
    const values = [draw(given), draw(family), ...birthday.map(String)]
    entered.push({ person, values })
    if (by.below(9) !== 0) continue
    const at = by.below(fields.length)
    const slip = at < 2 ? misspell(values[at] ?? '', by.below(4)) : String(Number(values[at]) + 1)
    entered.push({ person, values: values.with(at, slip) })
  }
  const mixed = by.shuffled(entered)
  return {
    csv: [`id,${fields.join(',')}`, ...mixed.map(({ values }, at) => [`p${at}`, ...values].join(',')), ''].join('\n'),
    truth: mixed.map(({ person }, at) => [`p${at}`, person] as const),
  }
}

function misspell(name: string, at: number): string {
  return `${name.slice(0, at)}x${name.slice(at + 1)}`
}
