// Kölner Phonetik: the sound of a German name, after Hans Joachim Postel, "Die Kölner Phonetik. Ein Verfahren zur
// Identifizierung von Personennamen auf der Grundlage der Gestaltanalyse", IBM-Nachrichten 19, 1969.

/** Digits that do not depend on the neighbours; a vowel is heard at the beginning only, and h never. */
const plainDigits: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from('aeijouy', (letter) => [letter, '0'])),
  ...Object.fromEntries(Array.from('fvw', (letter) => [letter, '3'])),
  ...Object.fromEntries(Array.from('gkq', (letter) => [letter, '4'])),
  ...Object.fromEntries(Array.from('sz', (letter) => [letter, '8'])),
  ...{ b: '1', l: '5', m: '6', n: '6', r: '7', h: '' },
}

/** Computes the code of the letters a to z of a lower-case text; empty without letters. */
export function cologne(text: string): string {
  const letters = text.replace(/[^a-z]/g, '')
  let sounds = ''
  for (let at = 0; at < letters.length; at++) sounds += readSound(letters, at)
  const single = sounds.replace(/(.)\1+/g, '$1')
  return single.slice(0, 1) + single.slice(1).replaceAll('0', '')
}

function readSound(letters: string, at: number): string {
  const letter = letters[at]!
  const [before, next] = [letters[at - 1] ?? '', letters[at + 1] ?? '']
  switch (letter) {
    case 'c':
      return isHardC(at, before, next) ? '4' : '8'
    case 'd':
    case 't':
      return isOneOf(next, 'csz') ? '8' : '2'
    case 'p':
      return next === 'h' ? '3' : '1'
    case 'x':
      return isOneOf(before, 'ckq') ? '8' : '48'
    default:
      return plainDigits[letter] ?? ''
  }
}

function isHardC(at: number, before: string, next: string): boolean {
  return at === 0 ? isOneOf(next, 'ahkloqrux') : isOneOf(next, 'ahkoqux') && !isOneOf(before, 'sz')
}

function isOneOf(letter: string, letters: string): boolean {
  return letter !== '' && letters.includes(letter)
}
