// The parts of a workbook besides its rows: the sheets by name, the kinds of its number formats, and its shared texts.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type XmlListener, XmlReader } from '../xml/xml-reader.ts'
import { inflateEntry, readZipEntries, type ZipEntries } from '../zip/zip-entries.ts'
import { kindOfFormat, type NumberKind, unescapeText } from './cell-text.ts'

type Sheet = { readonly name: string; readonly part: string; readonly isHidden: boolean }

export type Workbook = {
  readonly file: RangeSource
  readonly entries: ZipEntries
  readonly sheets: readonly Sheet[]
  readonly has1904Dates: boolean
  readonly stylesPart: string | undefined
  readonly stringsPart: string | undefined
}

/** Of a part other than rows and shared texts. */
const max_part_bytes = 33_554_432
const max_shared_bytes = 536_870_912
const max_shared_texts = 16_777_216
const max_sheets = 1_024
/** Far above what Excel holds, 32,767. */
const max_text_characters = 4_194_304

/** Throws `DataFault`, and what the file throws. */
export async function openWorkbook(file: RangeSource): Promise<Workbook> {
  rejectOtherFormats(file)
  const entries = readZipEntries(file, 'a workbook of Excel (.xlsx)')
  const mainPart = (await readRelations(file, entries, '')).find(({ type }) => type.endsWith('/officeDocument'))?.part
  if (mainPart === undefined || !entries.has(mainPart))
    throw new DataFault('a ZIP archive, and not a workbook of Excel (.xlsx)')
  if (mainPart.endsWith('.bin')) throw new DataFault('a binary workbook (.xlsb): save it as .xlsx')
  const relations = await readRelations(file, entries, mainPart)
  const partOf = (kind: string) => relations.find(({ type }) => type.endsWith(kind))?.part
  const sheets: Sheet[] = []
  let has1904Dates = false
  await readPart(file, entries, mainPart, max_part_bytes, {
    open(name, attributes) {
      if (name === 'workbookPr') has1904Dates = /^(1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet') return
      const id = Object.entries(attributes).find(([key]) => /(^|:)id$/.test(key))?.[1]
      const relation = relations.find((each) => each.id === id)
      if (!relation?.type.endsWith('/worksheet')) return
      if (sheets.length === max_sheets) throw new DataFault(`more than ${max_sheets} sheets`)
      const isHidden = attributes.state === 'hidden' || attributes.state === 'veryHidden'
      sheets.push({ name: attributes.name ?? '', part: relation.part, isHidden })
    },
  })
  if (sheets.length === 0) throw new DataFault('the workbook has no sheet')
  return { file, entries, sheets, has1904Dates, stylesPart: partOf('/styles'), stringsPart: partOf('/sharedStrings') }
}

function rejectOtherFormats(file: RangeSource): void {
  const bytes = new Uint8Array(file.read(0, Math.min(8, file.size)))
  const isCompound = bytes[0] === 0xd0 && bytes[1] === 0xcf && bytes[2] === 0x11 && bytes[3] === 0xe0
  if (isCompound)
    throw new DataFault(
      'an .xls workbook, or one with a password: name it .xls, or save it as .xlsx without a password',
    )
}

type PartRelationship = { readonly id: string; readonly type: string; readonly part: string }

async function readRelations(file: RangeSource, entries: ZipEntries, part: string): Promise<PartRelationship[]> {
  const slash = part.lastIndexOf('/') + 1
  const name = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`
  if (!entries.has(name)) return []
  const relations: PartRelationship[] = []
  await readPart(file, entries, name, max_part_bytes, {
    open(element, { Id = '', Type = '', Target = '', TargetMode }) {
      // A part outside of the archive is never read.
      if (element !== 'Relationship' || TargetMode === 'External') return
      relations.push({ id: Id, type: Type, part: resolvePart(part.slice(0, slash), Target) })
    },
  })
  return relations
}

function resolvePart(folder: string, target: string): string {
  const names: string[] = []
  for (const name of (target.startsWith('/') ? target : `${folder}${target}`).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

async function readPart(
  file: RangeSource,
  entries: ZipEntries,
  part: string,
  max_bytes: number,
  listener: XmlListener,
): Promise<void> {
  const entry = entries.get(part)
  if (!entry) throw new DataFault(`damaged: the part ${part} is missing`)
  const reader = new XmlReader(`damaged: ${part}`, listener)
  for await (const piece of inflateEntry(file, entry, max_bytes, () => undefined)) reader.write(piece)
  reader.end()
}

/** The kind of number of each style of cells. */
export async function readStyles({ file, entries, stylesPart }: Workbook): Promise<NumberKind[]> {
  if (stylesPart === undefined) return []
  const codes = new Map<number, string>()
  const kinds: NumberKind[] = []
  let isInCells = false
  await readPart(file, entries, stylesPart, max_part_bytes, {
    open(name, { numFmtId = '0', formatCode }) {
      if (name === 'numFmt' && formatCode !== undefined) codes.set(Number(numFmtId), formatCode)
      if (name === 'cellXfs') isInCells = true
      if (name === 'xf' && isInCells) kinds.push(kindOfFormat(Number(numFmtId), codes.get(Number(numFmtId))))
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false
    },
  })
  return kinds
}

/** The texts that cells refer to by number. Parts of a rich text are one text; readings of ideograms are left out. */
export async function readSharedTexts({ file, entries, stringsPart }: Workbook): Promise<readonly string[]> {
  if (stringsPart === undefined || !entries.has(stringsPart)) return []
  const texts: string[] = []
  const item = new TextItem()
  await readPart(file, entries, stringsPart, max_shared_bytes, {
    open(name) {
      if (name === 'si') item.begin()
      else item.open(name)
    },
    text: (text) => item.add(text),
    close(name) {
      item.close(name)
      if (name !== 'si') return
      if (texts.length === max_shared_texts) throw new DataFault(`more than ${max_shared_texts} shared texts`)
      texts.push(item.text())
    },
  })
  return texts
}

/** Collects the text of an item or of a cell with a text of its own. */
export class TextItem {
  #parts = ''
  #isText = false
  #isReading = false

  begin(): void {
    this.#parts = ''
    this.#isText = this.#isReading = false
  }

  open(name: string): void {
    if (name === 't') this.#isText = true
    if (name === 'rPh') this.#isReading = true
  }

  /** Throws `DataFault`. */
  add(text: string): void {
    if (!this.#isText || this.#isReading) return
    this.#parts += text
    if (this.#parts.length > max_text_characters)
      throw new DataFault(`a text of more than ${max_text_characters} characters`)
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    if (name === 'rPh') this.#isReading = false
  }

  text(): string {
    return unescapeText(this.#parts)
  }
}
