// Normalises what identifies a person or a company beside its name: phone numbers, addresses of sites, legal forms.
import { normaliseWords } from './normalise.ts'
import { foldDigits } from './normalise-scripts.ts'

/** Digits of a national number: the trunk prefix and the country are written by some and left out by others. */
const national_digits = 9
const min_phone_digits = 6

/** Keeps the last nine digits of a phone number, without an extension. */
export function normalisePhone(text: string): string {
  const digits = foldDigits(text)
    .replace(/(x|ext\.?)\s*\d+\s*$/i, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
  return digits.length < min_phone_digits ? '' : digits.slice(-national_digits)
}

/** Keeps the host and the path of an address, without scheme, `www.`, query, fragment and closing slash. */
export function normaliseUrl(text: string): string {
  const [address = ''] = text.trim().toLowerCase().split(/[?#]/, 1)
  const path = address.replace(/^[a-z][a-z0-9+.-]*:\/\//, '').replace(/^www\./, '')
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

/** Words of the legal forms of companies, as `normaliseWords` writes them. */
const legalForms: ReadonlySet<string> = new Set(
  (
    'ltd limited inc incorporated corp corporation co company llc llp lp plc pllc gmbh mbh ag kg kgaa ohg gbr ug se ev eg ' +
    'sa sas sarl sasu srl srls spa snc sl slu bv nv vof cv ab as asa aps oy oyj kft zrt nyrt sro doo dd ood eood ooo oao zao pao ' +
    'pte pty sdn bhd kk ltda eireli sab'
  ).split(' '),
)

/** Whether a name ends with a legal form. */
export function hasLegalForm(text: string): boolean {
  const words = normaliseWords(text.replaceAll('.', '')).split(' ')
  return words.length > 1 && legalForms.has(words.at(-1) ?? '')
}

/** Keeps the words of the name of a company without its legal forms, which some write and others leave out. */
export function normaliseCompany(text: string): string {
  const words = normaliseWords(text.replaceAll('.', '')).split(' ')
  const name = words.filter((word) => !legalForms.has(word))
  return (name.length > 0 ? name : words).join(' ')
}
