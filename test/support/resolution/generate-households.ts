// People of households in one table, of whom few are listed twice: relatives share all fields but one.
import { type SeededRandom, seededRandom } from '../random/seeded-random.ts'

const syllables =
  'ba be bo da de di fa fe ka ke ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se ta te ti to va vi'
const parts = syllables.split(' ')

export type GeneratedHouseholds = {
  readonly csv: string
  /** Of each record, in the order of the file: its id, and the number of the person. */
  readonly truth: readonly (readonly [id: string, person: number])[]
}

/** `twice`: the share of the people who are listed twice, with slips. The same seed makes the same people. */
export function generateHouseholds(households: number, twice: number, seed: number): GeneratedHouseholds {
  const by = seededRandom(seed)
  const listed: { person: number; values: string[] }[] = []
  let person = 0
  for (let household = 0; household < households; household++) {
    const surname = drawName(by, 3)
    const street = `${1 + by.below(300)} ${drawName(by, 2)} street`
    const phone = String(2_000_000 + by.below(7_000_000))
    const given = new Set(Array.from({ length: 2 + by.below(3) }, () => drawName(by, 2)))
    for (const name of given) {
      person++
      listed.push({ person, values: [name, surname, street, phone] })
      if (!by.happens(twice)) continue
      // A second listing is older: the family may have moved since.
      const hasMoved = by.happens(0.5)
      const [oldStreet, oldPhone] = [
        `${1 + by.below(300)} ${drawName(by, 2)} street`,
        String(2_000_000 + by.below(7_000_000)),
      ]
      const values = [name, by.happens(0.3) ? misspell(surname, by) : surname, hasMoved ? oldStreet : street]
      listed.push({ person, values: [...values, hasMoved ? oldPhone : phone] })
    }
  }
  const mixed = by.shuffled(listed)
  const lines = mixed.map(({ values }, at) => [`h${at}`, ...values].join(','))
  return {
    csv: ['id,given,surname,street,phone', ...lines, ''].join('\n'),
    truth: mixed.map(({ person: number }, at) => [`h${at}`, number] as const),
  }
}

function drawName(by: SeededRandom, length: number): string {
  return Array.from({ length }, () => by.pick(parts)).join('')
}

function misspell(word: string, by: SeededRandom): string {
  const at = 1 + by.below(word.length - 2)
  return `${word.slice(0, at)}${word[at + 1] ?? ''}${word[at] ?? ''}${word.slice(at + 2)}`
}
