// Different notations of a value in any script have one normal form, crafted values cost little, and plain values keep theirs.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { latinForm } from './latin-form.ts'
import { normaliseDate, normaliseEmail, normaliseNumber, normaliseWords, normaliseYear } from './normalise.ts'
import { normalisePhone } from './normalise-identity.ts'
import { createNormaliser } from './normalisers.ts'

describe('one form', () => {
  test.each([
    ['Arabic with and without points, tatweel and variants of alef', ['أَحْمَد', 'احمد', 'احـــمد', 'إحمد']],
    ['Arabic and Persian letters', ['علي كريمي', 'علی کریمی']],
    ['teh marbuta', ['فاطمة', 'فاطمه']],
    ['Arabic ligatures', ['محمد ﷲ', 'محمد الله']],
    ['Hebrew with and without points', ['דָּוִד', 'דוד']],
    ['half-width and full-width Kana', ['ﾀﾅｶ', 'タナカ']],
    ['voiced Kana, composed and decomposed', ['ガ', 'カ\u3099', 'ｶﾞ']],
    ['full-width Latin letters', ['Ｙａｍａｄａ', 'yamada']],
    ['compatibility forms of Han', ['⼭田', '山田']],
    ['Hangul, composed and decomposed', ['김철수', '김철수'.normalize('NFD')]],
    ['signs of direction', ['\u202bמשה\u202c', 'משה']],
    ['variants of a Han character', ['渡邉\u{e0101}ガ', '渡邉ガ']],
    ['Persian with and without a joiner', ['می\u200cخواهم', 'میخواهم']],
    ['marks of letters without rules, with and without other digits', ['é\u{1e8d0} \u{11950}', 'é\u{1e8d0} 0', 'e 0']],
    ['digits', ['房 ３０２', '房 302', '房 ٣٠٢', '房 ३०२', '房 ๓๐๒']],
  ])('%s', (_, texts) => {
    expect(new Set(texts.map(normaliseWords)).size).toBe(1)
    expect(normaliseWords(texts[0] ?? '')).not.toBe('')
  })

  test.each([
    ['vowels of Devanagari', 'राम', 'रोम'],
    ['vowels of Thai', 'กา', 'กี'],
    ['voiced and voiceless Kana', 'カキ', 'ガキ'],
    ['Han', '山田', '山口'],
  ])('%s differ', (_, left, right) => {
    expect(normaliseWords(left)).not.toBe(normaliseWords(right))
  })

  test('digits of all scripts in dates, years, numbers, phones', () => {
    expect(normaliseDate('١٩٧١-٠٥-٠٤')).toBe('19710504')
    expect(normaliseYear('१९७१')).toBe('1971')
    expect(normaliseNumber('１２.５')).toBe('12.5')
    expect(normalisePhone('٠١٧١ ٥٥٥ ٢٣٦٨')).toBe('715552368')
    expect(createNormaliser(['digits'])('𝟙𝟚a๓')).toBe('123')
  })
})

/** The normal form before scripts had rules, which values without such letters keep. */
function normaliseLatin(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
  return plain.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

test('Latin, Greek, Cyrillic, Han and Hangul values keep their form, and ASCII values are their own Latin form', () => {
  const letters = fc.constantFrom(...'aZ 09-_.éßøŁıİñ\u00ad\u0301ΓώсЙ山김’')
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 20 }), (text) => {
      expect(normaliseWords(text)).toBe(normaliseLatin(text))
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void expect(latinForm(text)).toBe(text)))
})

describe('Latin forms', () => {
  test.each([
    ['Иван Петров', 'ivan petrov'],
    ['Юлия Щербакова', 'yuliya shcherbakova'],
    ['Київ', 'kiiv'],
    ['Γιώργος Παπαδόπουλος', 'giorgos papadopoulos'],
    ['Ευάγγελος', 'evaggelos'],
    ['山田 太郎', 'shantian tailang'],
    ['タナカ', 'tanaka'],
    ['ガキ', 'gaki'],
    ['김철수', 'gimcheolsu'],
    ['Łukasz Sørensen, Œuvre', 'lukasz sorensen oeuvre'],
    ['Yıldız', 'yildiz'],
    ['Նարեկ', 'narek'],
    ['გიორგი', 'giorgi'],
    ['ሰላም', 'selam'],
  ])('%s is %s', (text, form) => {
    expect(latinForm(normaliseWords(text))).toBe(form)
  })
})

describe('crafted values', () => {
  // Without a limit, the marks of one letter are sorted in time that grows with the square of their number.
  test.each([
    ['marks of two classes by turns', '\u0315\u0300'.repeat(200_000)],
    ['a letter with marks by turns', `a${'\u0315\u0300'.repeat(200_000)}`],
    ['signs of direction', '\u202e'.repeat(200_000)],
    ['private use', '\ue000'.repeat(200_000)],
    ['lone surrogates', '\ud800'.repeat(200_000)],
    ['a letter that becomes eighteen', '\ufdfa'.repeat(20_000)],
  ])('%s', (_, text) => {
    const forms = [normaliseWords, normaliseEmail, createNormaliser(['no_accents'])].map((normalise) => normalise(text))
    for (const form of forms) expect(form.length).toBeLessThanOrEqual(18 * text.length)
    for (const form of [...forms, text]) expect(latinForm(form).length).toBeLessThanOrEqual(1_024)
  })

  test('any text has a bounded form, and a form is its own normal form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const form = normaliseWords(text)
        expect(form.length).toBeLessThanOrEqual(18 * text.length)
        expect(normaliseWords(form)).toBe(form)
        expect(latinForm(form).length).toBeLessThanOrEqual(1_024)
      }),
      { numRuns: 2_000 },
    )
  })
})
