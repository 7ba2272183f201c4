// The algorithms give the codes that their publications give.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { phoneticNames } from '../../../lens/phonetics.ts'
import { normaliseWords } from '../normalise.ts'
import { listSounds, readSound } from './sounds.ts'

const soundsOf = (name: (typeof phoneticNames)[number], text: string) => listSounds(name, normaliseWords(text))

describe('soundex', () => {
  // National Archives of the United States, "The Soundex Indexing System"; Ashcraft and Rupert: Knuth, "Sorting and Searching".
  test.each([
    ['Washington', 'w252'],
    ['Lee', 'l000'],
    ['Gutierrez', 'g362'],
    ['Pfister', 'p236'],
    ['Jackson', 'j250'],
    ['Tymczak', 't522'],
    ['Ashcraft', 'a261'],
    ['Robert', 'r163'],
    ['Rupert', 'r163'],
    ['Rubin', 'r150'],
    ['Honeyman', 'h555'],
    ['Euler', 'e460'],
    ['Ellery', 'e460'],
    ['Lloyd', 'l300'],
    ['Lukasiewicz', 'l222'],
  ])('%s is %s', (name, code) => {
    expect(soundsOf('soundex', name)).toEqual([code])
  })
})

describe('Kölner Phonetik', () => {
  // Postel 1969, by way of the article "Kölner Phonetik" of Wikipedia, and each rule of its table once.
  test.each([
    ['Müller-Lüdenscheidt', '65752682'],
    ['Wikipedia', '3412'],
    ['Breschnew', '17863'],
    ['Meier', '67'],
    ['Mayr', '67'],
    ['Philipp', '351'],
    ['Chris', '478'],
    ['Cäsar', '487'],
    ['Celsius', '8588'],
    ['Acht', '042'],
    ['Ascher', '087'],
    ['Xaver', '4837'],
    ['Axt', '0482'],
    ['Kux', '448'],
    ['Schmidt', '862'],
    ['Schmitz', '868'],
    ['Heinz', '068'],
  ])('%s is %s', (name, code) => {
    expect(soundsOf('cologne', name)).toEqual([code])
  })
})

describe('Double Metaphone', () => {
  // Lawrence Philips, "The Double Metaphone Search Algorithm", C/C++ Users Journal, June 2000.
  test.each([
    ['Smith', ['SM0', 'XMT']],
    ['Schmidt', ['XMT', 'SMT']],
    ['Thomas', ['TMS']],
    ['Thumb', ['0M', 'TM']],
    ['Caesar', ['SSR']],
    ['Wright', ['RT']],
    ['Catherine', ['K0RN', 'KTRN']],
    ['Jose', ['HS']],
    ['Wagner', ['AKNR', 'FKNR']],
  ])('%s is %j', (name, codes) => {
    expect(soundsOf('double_metaphone', name)).toEqual(codes)
  })
})

describe('consonants', () => {
  test.each([
    ['محمد', ['Mohamed', 'Muhammad', 'Mohammed', 'Mehmed']],
    ['فاطمة', ['Fatima', 'Fatimah']],
    ['عبد الله', ['Abdullah', 'Abdallah', 'Abd Allah']],
    ['حسن', ['Hassan', 'Hasan']],
    ['יוסף', ['Yosef', 'Yusuf']],
    ['שרה', ['Sarah', 'Sara']],
    ['שרון', ['Sharon']],
    ['प्रिया', ['Priya', 'Prya']],
    ['शर्मा', ['Sharma', 'Sarma']],
    ['สมชาย', ['Somchai']],
  ])('%s sounds like %j', (name, spellings) => {
    const sound = readSound('consonants', normaliseWords(name))
    expect(sound).not.toBe('')
    expect(spellings.map((spelling) => readSound('consonants', normaliseWords(spelling)))).toEqual(
      spellings.map(() => sound),
    )
  })

  test('one consonant is not a sound', () => {
    expect(readSound('consonants', 'leo')).toBe('')
  })
})

test.each(phoneticNames)('%s of any text is short, and none of a text without letters', (name) => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 60 })), (text) => {
      for (const sound of soundsOf(name, text)) expect(sound.length).toBeLessThanOrEqual(8 * text.length + 4)
    }),
  )
  expect(soundsOf(name, '.- !')).toEqual([])
})
