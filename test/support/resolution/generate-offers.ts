// Offers of shops in one table: families of variants, of which few or most are written down by a second shop too.
import { type SeededRandom, seededRandom } from '../random/seeded-random.ts'

const makers = 'Norvik Halden Aster Brixo Calder Dorn Elvio Fennek Garda Holm Istra Jarl Kelvan Lumo Marno'.split(' ')
const kinds = 'memory card,usb stick,hard drive,headphones,desk lamp,kettle,radio,speaker,router'.split(',')
const sizes = ['2gb', '4gb', '8gb', '16gb', '32gb', '64gb']
const colours = ['black', 'silver', 'white', 'red', 'blue', 'pink']
const series = ['pro', 'plus', 'lite', 'max', '', '', '', '']
const remarks = ['new', 'retail', 'oem', 'boxed', 'with cable']
const features = 'usb warranty compact fast travel home durable stylish light portable energy saving'.split(' ')
const consonants = [...'bcdfghkmnprstvx']

type Offer = Readonly<Record<'maker' | 'line' | 'kind' | 'model' | 'size' | 'colour', string>>

export type GeneratedOffers = {
  readonly csv: string
  /** Of each record, in the order of the file: its id, and the number of the product. */
  readonly truth: readonly (readonly [id: string, product: number])[]
}

/** About `count` records; `twice`: the share of products that a second shop offers. The same seed makes the same offers. */
export function generateOffers(count: number, twice: number, seed: number): GeneratedOffers {
  const by = seededRandom(seed)
  const written: { product: number; values: string[] }[] = []
  for (let product = 0; written.length < count; ) {
    for (const offer of drawFamily(by)) {
      product++
      const price = 8 + by.below(392)
      for (const name of [nameOffer(offer), ...(by.happens(twice) ? [nameAgain(offer, by)] : [])]) {
        const details = by.shuffled(features).slice(0, by.below(5))
        const description = [offer.kind, offer.size, offer.colour, ...details].join(' ')
        written.push({ product, values: [name, description, by.happens(0.7) ? String(price) : ''] })
      }
    }
  }
  const mixed = by.shuffled(written)
  return {
    csv: ['id,name,description,price', ...mixed.map(({ values }, at) => [`o${at}`, ...values].join(',')), ''].join(
      '\n',
    ),
    truth: mixed.map(({ product }, at) => [`o${at}`, product] as const),
  }
}

function drawFamily(by: SeededRandom): Offer[] {
  const [maker, kind, line] = [by.pick(makers), by.pick(kinds), by.pick(series)]
  const letters = Array.from({ length: 1 + by.below(3) }, () => by.pick(consonants)).join('')
  const model = `${letters}${10 + by.below(990)}`
  const familyColours = by.shuffled(colours).slice(0, 1 + by.below(3))
  const familySizes = by.shuffled(sizes).slice(0, 1 + by.below(3))
  return familySizes.flatMap((size) => familyColours.map((colour) => ({ maker, line, kind, model, size, colour })))
}

function nameOffer({ maker, line, kind, model, size, colour }: Offer): string {
  return [maker, line, kind, model, size, colour].filter((part) => part !== '').join(' ')
}

/** Names an offer as another shop does: in another order, with remarks, gaps and slips. */
function nameAgain({ maker, line, kind, model, size, colour }: Offer, by: SeededRandom): string {
  const parts = by.happens(0.4) ? [maker, kind, size, colour, model] : [maker, line, kind, model, size, colour]
  if (by.happens(0.3)) parts.push(by.pick(remarks))
  if (by.happens(0.2)) parts[by.below(parts.length)] = ''
  const named = parts.filter((part) => part !== '')
  return named.map((part) => (by.happens(0.08) ? misspell(part, by) : part)).join(' ')
}

/** Leaves out, doubles or swaps a letter within a word. */
function misspell(word: string, by: SeededRandom): string {
  if (word.length < 4) return word
  const at = 1 + by.below(word.length - 2)
  const [before, letter = '', next = '', after] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)]
  return by.pick([
    `${before}${next}${after}`,
    `${before}${letter}${letter}${next}${after}`,
    `${before}${next}${letter}${after}`,
  ])
}
