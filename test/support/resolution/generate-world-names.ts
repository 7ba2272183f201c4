// People of many languages who are written down twice or more: in two scripts, with and without particles, by nicknames.
import { type SeededRandom, seededRandom } from '../random/seeded-random.ts'

/** Spellings of one name: the first in its own script, the others as offices write it in Latin letters. */
type Spellings = readonly string[]

/** The spellings are those of passports, encyclopedias and directories, and not of any transliteration table. */
const languages: readonly { readonly given: readonly Spellings[]; readonly surnames: readonly Spellings[] }[] = [
  {
    given: [
      ['Иван', 'Ivan'],
      ['Юлия', 'Yulia', 'Julia', 'Iuliia'],
      ['Алексей', 'Alexey', 'Aleksei', 'Alexei'],
      ['Сергей', 'Sergey', 'Sergei'],
      ['Екатерина', 'Ekaterina', 'Yekaterina'],
      ['Дмитрий', 'Dmitry', 'Dmitri', 'Dmitriy'],
      ['Наталья', 'Natalya', 'Natalia'],
      ['Михаил', 'Mikhail'],
    ],
    surnames: [
      ['Петров', 'Petrov'],
      ['Щербаков', 'Shcherbakov', 'Scherbakov'],
      ['Чайковский', 'Tchaikovsky', 'Chaikovsky'],
      ['Ефимов', 'Efimov', 'Yefimov'],
      ['Жуков', 'Zhukov'],
      ['Горбачёв', 'Gorbachev', 'Gorbachyov'],
      ['Кузнецов', 'Kuznetsov'],
      ['Соловьёв', 'Solovyov', 'Soloviev'],
    ],
  },
  {
    given: [
      ['Γιώργος', 'Giorgos', 'Yiorgos'],
      ['Ελένη', 'Eleni'],
      ['Δημήτρης', 'Dimitris', 'Dimitrios'],
      ['Κωνσταντίνος', 'Konstantinos', 'Constantinos'],
      ['Αικατερίνη', 'Aikaterini', 'Ekaterini'],
      ['Νίκος', 'Nikos'],
    ],
    surnames: [
      ['Παπαδόπουλος', 'Papadopoulos'],
      ['Οικονόμου', 'Oikonomou', 'Economou'],
      ['Γεωργίου', 'Georgiou'],
      ['Αγγελόπουλος', 'Angelopoulos', 'Aggelopoulos'],
      ['Βασιλείου', 'Vasileiou', 'Vassiliou'],
      ['Μιχαηλίδης', 'Michailidis', 'Mihailidis'],
    ],
  },
  {
    given: [
      ['محمد', 'Mohamed', 'Muhammad', 'Mohammed'],
      ['فاطمة', 'Fatima', 'Fatimah'],
      ['حسين', 'Hussein', 'Husayn', 'Hossein'],
      ['خالد', 'Khalid', 'Khaled'],
      ['عبد الله', 'Abdullah', 'Abdallah'],
      ['مريم', 'Maryam', 'Mariam'],
      ['يوسف', 'Yusuf', 'Youssef'],
      ['سارة', 'Sarah', 'Sara'],
    ],
    surnames: [
      ['الحسن', 'al-Hasan', 'Alhassan', 'Hasan'],
      ['المصري', 'al-Masri', 'Elmasry', 'Masri'],
      ['الخطيب', 'al-Khatib', 'Khatib'],
      ['بن سعيد', 'bin Said', 'ibn Saeed', 'Said'],
      ['منصور', 'Mansour', 'Mansoor'],
      ['رشيد', 'Rashid', 'Rasheed'],
    ],
  },
  {
    given: [
      ['דוד', 'David'],
      ['שרה', 'Sarah', 'Sara'],
      ['יוסף', 'Yosef', 'Yossef'],
      ['מרים', 'Miriam', 'Miryam'],
      ['אברהם', 'Avraham'],
    ],
    surnames: [
      ['כהן', 'Cohen', 'Kohen'],
      ['לוי', 'Levi', 'Levy'],
      ['מזרחי', 'Mizrahi', 'Mizrachi'],
      ['פרץ', 'Peretz', 'Perets'],
      ['בן דוד', 'Ben David', 'Bendavid'],
    ],
  },
  {
    given: [
      ['राम', 'Ram', 'Rama'],
      ['प्रिया', 'Priya'],
      ['अनिल', 'Anil'],
      ['सुनीता', 'Sunita', 'Suneeta'],
      ['विकास', 'Vikas'],
    ],
    surnames: [
      ['शर्मा', 'Sharma', 'Sarma'],
      ['कुमार', 'Kumar'],
      ['गुप्ता', 'Gupta'],
      ['वर्मा', 'Verma', 'Varma'],
      ['पटेल', 'Patel'],
    ],
  },
  {
    given: [
      ['小明', 'Xiaoming', 'Xiao Ming'],
      ['伟', 'Wei'],
      ['秀英', 'Xiuying', 'Xiu Ying'],
      ['建国', 'Jianguo', 'Jian Guo'],
      ['丽', 'Li'],
    ],
    surnames: [
      ['王', 'Wang'],
      ['张', 'Zhang'],
      ['陈', 'Chen'],
      ['刘', 'Liu'],
      ['欧阳', 'Ouyang'],
    ],
  },
  {
    given: [
      ['지성', 'Jisung', 'Ji-sung', 'Jiseong'],
      ['민준', 'Minjun', 'Min-jun'],
      ['서연', 'Seoyeon', 'Seo-yeon'],
      ['영희', 'Younghee', 'Yeonghui'],
    ],
    surnames: [
      ['김', 'Kim', 'Gim'],
      ['박', 'Park', 'Bak'],
      ['정', 'Jung', 'Jeong'],
      ['최', 'Choi', 'Choe'],
    ],
  },
  {
    given: [
      ['Robert', 'Bob', 'Rob', 'Bobby'],
      ['Margaret', 'Peggy', 'Maggie', 'Meg'],
      ['William', 'Bill', 'Will'],
      ['Elizabeth', 'Betty', 'Liz', 'Beth'],
      ['Richard', 'Dick', 'Rick'],
      ['Edward', 'Ted', 'Ned', 'Ed'],
      ['Katherine', 'Kate', 'Kitty'],
      ['John', 'Jack', 'Johnny'],
    ],
    surnames: [
      ["O'Brien", 'OBrien', "O'Brian"],
      ['van der Berg', 'Vanderberg', 'Berg'],
      ['MacDonald', 'McDonald', 'Mc Donald'],
      ['von Neumann', 'Neumann'],
      ['De La Cruz', 'Delacruz', 'Cruz'],
      ['dos Santos', 'Santos'],
      ['Müller', 'Mueller', 'Muller'],
      ['Sørensen', 'Sorensen'],
    ],
  },
]
const cities = [
  ...[
    'Ashford',
    'Brookvale',
    'Carrick',
    'Dunmore',
    'Elmstead',
    'Fairhaven',
    'Glenfield',
    'Harrow',
    'Inverley',
    'Kelsey',
  ],
  ...['Larkhill', 'Marston', 'Norbury', 'Oakham', 'Penrose', 'Quarley', 'Ripley', 'Stanmore', 'Tilbury', 'Upton'],
]
const born_years = 60
/** Share of records without a date of birth, and of dates with a wrong day. */
const missing_share = 0.1
const wrong_share = 0.1
/** Share of people who moved between two records. */
const moved_share = 0.2

export type WorldPeople = {
  readonly csv: string
  /** Of each record, in the order of the file: its id, and the number of the person. */
  readonly truth: readonly (readonly [id: string, person: number])[]
}

/** Makes people with one to three records each; the same seed makes the same people. */
export function generateWorldPeople(people: number, seed: number): WorldPeople {
  const by = seededRandom(seed)
  const written: { person: number; line: string }[] = []
  for (let person = 0; person < people; person++) {
    const { given, surnames } = by.pick(languages)
    const [givenName, surname] = [by.pick(given), by.pick(surnames)]
    const born = createDate(by)
    const city = by.pick(cities)
    for (let record = 0, records = 1 + by.below(3); record < records; record++) {
      const date =
        by.below(100) < 100 * missing_share ? '' : by.below(100) < 100 * wrong_share ? moveDay(born, by) : born
      const place = by.below(100) < 100 * moved_share ? by.pick(cities) : city
      // One record has both names in their own script, or both in Latin letters.
      const isOriginal = by.below(2) === 0
      const write = (spellings: Spellings) => by.pick(isOriginal ? spellings.slice(0, 1) : spellings.slice(1))
      written.push({ person, line: [write(givenName), write(surname), date, place].join(',') })
    }
  }
  const mixed = by.shuffled(written)
  const lines = mixed.map(({ line }, at) => `r${at},${line}`)
  return {
    csv: ['id,given_name,surname,date_of_birth,city', ...lines, ''].join('\n'),
    truth: mixed.map(({ person }, at) => [`r${at}`, person] as const),
  }
}

const padTwoDigits = (number: number) => String(number).padStart(2, '0')

function createDate(by: SeededRandom): string {
  return `${1940 + by.below(born_years)}-${padTwoDigits(1 + by.below(12))}-${padTwoDigits(1 + by.below(28))}`
}

function moveDay(date: string, by: SeededRandom): string {
  return `${date.slice(0, 8)}${padTwoDigits(1 + by.below(28))}`
}
