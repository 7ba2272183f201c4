// People who are written down several times, each time a little differently; and who is who in truth.
import { type SeededRandom, seededRandom } from '../random/seeded-random.ts'

export const syllables = [
  'an',
  'be',
  'co',
  'da',
  'el',
  'fi',
  'ga',
  'ho',
  'in',
  'jo',
  'ka',
  'li',
  'mo',
  'ne',
  'or',
  'pe',
  'ri',
  'sa',
  'to',
  'um',
]
const fields = ['given_name', 'surname', 'date_of_birth', 'city', 'postcode', 'email'] as const
type GeneratedPerson = Record<(typeof fields)[number], string>

export type GeneratedPeople = {
  readonly csv: string
  /** Of each record, in the order of the file: its id, and the number of the person. */
  readonly truth: readonly (readonly [id: string, person: number])[]
}

/** So many people with one record each and at most so many copies, in any order; the same seed makes the same people. */
export function generatePeople(people: number, seed: number, max_copies = 3): GeneratedPeople {
  const by = seededRandom(seed)
  const written: { person: number; record: GeneratedPerson }[] = []
  for (let person = 0; person < people; person++) {
    const first = createPerson(by)
    written.push({ person, record: first })
    for (let copies = by.below(max_copies + 1); copies > 0; copies--)
      written.push({ person, record: miswritePerson(first, by) })
  }
  const mixed = by.shuffled(written)
  const lines = mixed.map(({ record }, at) => [`r${at}`, ...fields.map((field) => record[field])].join(','))
  return {
    csv: [`id,${fields.join(',')}`, ...lines, ''].join('\n'),
    truth: mixed.map(({ person }, at) => [`r${at}`, person] as const),
  }
}

const pickWord = (by: SeededRandom, least: number) =>
  Array.from({ length: least + by.below(2) }, () => by.pick(syllables)).join('')
const padTwoDigits = (number: number) => String(number).padStart(2, '0')

function createPerson(by: SeededRandom): GeneratedPerson {
  const [given_name, surname] = [pickWord(by, 2), pickWord(by, 2)]
  const city = by.below(40)
  return {
    given_name,
    surname,
    date_of_birth: `${1930 + by.below(80)}-${padTwoDigits(1 + by.below(12))}-${padTwoDigits(1 + by.below(28))}`,
    city: `${syllables[city % 20]}town${city}`,
    postcode: String(10_000 + city * 7 + by.below(7)),
    email: `${given_name}.${surname}${by.below(100)}@example.org`,
  }
}

/** One to three things are wrong with it. */
function miswritePerson(person: GeneratedPerson, by: SeededRandom): GeneratedPerson {
  const record = { ...person }
  for (let faults = 1 + by.below(3); faults > 0; faults--) {
    const field = by.pick(fields)
    const how = by.weighted({ slip: 6, missing: 2, swapped: 1 })
    if (how === 'missing') record[field] = ''
    else if (how === 'slip') record[field] = miswriteText(record[field], by)
    else [record.given_name, record.surname] = [record.surname, record.given_name]
  }
  return record
}

function miswriteText(text: string, by: SeededRandom): string {
  if (text.length < 2) return text
  const at = by.below(text.length - 1)
  const [before, letter, next, after] = [text.slice(0, at), text[at], text[at + 1], text.slice(at + 2)]
  return by.pick([
    `${before}${next}${after}`,
    `${before}${next}${letter}${after}`,
    `${before}${letter}${letter}${next}${after}`,
  ])
}
