// The globals of a workbook: its sheets, the kinds of its number formats, and its shared texts. Macros, links and embedded objects are not looked at.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { kindOfFormat, type NumberKind } from '../xlsx/cell-text.ts'
import { type BiffRecord, BiffRecords, recordTypes } from './biff-records.ts'
import { type ByteDecoder, readSharedTexts, TextCursor } from './biff-text.ts'
import { CompoundFile, isCompoundFile } from './compound-file.ts'

export type BiffSheet = { readonly name: string; readonly start: number; readonly isHidden: boolean }

export type BiffWorkbook = {
  readonly stream: RangeSource
  readonly sheets: readonly BiffSheet[]
  readonly has1904Dates: boolean
  readonly styles: readonly NumberKind[]
  readonly shared: readonly string[]
  /** Of texts of one byte a character; undefined in a workbook of Excel 97 and later. */
  readonly decoder: ByteDecoder | undefined
}

const max_sheets = 1_024
/** Excel has 4,000 formats of cells, and a 16-bit number for one. */
const max_styles = 65_536
const [version8, version5] = [0x0600, 0x0500]
/** Numbers of code pages whose encoding has another name than `windows-`. */
const encodingsByPage: Readonly<Record<number, string>> = {
  ...{ 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 10000: 'macintosh', 32768: 'macintosh' },
  32769: 'windows-1252',
}

/** `hasTexts`: whether the shared texts are read. Throws `DataFault`, and what the file throws. */
export function openBiffWorkbook(file: RangeSource, hasTexts: boolean): BiffWorkbook {
  const stream = openWorkbookStream(file)
  const records = new BiffRecords(stream, 0)
  const globals = new Globals(records, readVersion(records.next()) === version5)
  for (let record = records.next(); record.type !== recordTypes.eof; record = records.next())
    globals.add(record, hasTexts)
  return { stream, ...globals.finish() }
}

function openWorkbookStream(file: RangeSource): RangeSource {
  if (!isCompoundFile(file)) throw new DataFault(describeOther(new Uint8Array(file.read(0, Math.min(8, file.size)))))
  const compound = new CompoundFile(file)
  if (compound.has('ENCRYPTEDPACKAGE')) throw new DataFault('encrypted: remove the password')
  for (const name of ['WORKBOOK', 'BOOK']) if (compound.has(name)) return compound.stream(name)
  throw new DataFault('a document of Office before 2007, and not a workbook of Excel (.xls)')
}

function describeOther([first, second]: Uint8Array): string {
  if (first === 0x50 && second === 0x4b)
    return 'a ZIP archive: name a workbook of Excel 2007 and later .xlsx, or state that format'
  // The first record of a workbook of Excel 2, 3 or 4.
  if (first === 0x09 && (second === 0 || second === 2 || second === 4))
    return 'a workbook of Excel 4 or before: save it as .xlsx'
  return 'damaged, or not a workbook of Excel (.xls)'
}

function readVersion({ type, data }: BiffRecord): number {
  const version = type === recordTypes.bof && data.byteLength >= 4 ? data.getUint16(0, true) : 0
  if (version === version8 || version === version5) return version
  throw new DataFault('damaged, or a workbook of Excel 4 or before: save it as .xlsx')
}

class Globals {
  readonly #records: BiffRecords
  readonly #isOld: boolean
  readonly #sheets: BiffSheet[] = []
  readonly #codes = new Map<number, string>()
  readonly #formats: number[] = []
  #shared: readonly string[] = []
  #has1904Dates = false
  #page = 1_252

  constructor(records: BiffRecords, isOld: boolean) {
    this.#records = records
    this.#isOld = isOld
  }

  add(record: BiffRecord, hasTexts: boolean): void {
    const { type, data } = record
    const cursor = (at: number) => new TextCursor(this.#records, record, at)
    switch (type) {
      case recordTypes.filePass:
        throw new DataFault('encrypted: remove the password')
      case recordTypes.dateMode:
        this.#has1904Dates = cursor(0).short() === 1
        break
      case recordTypes.codePage:
        this.#page = cursor(0).short()
        break
      case recordTypes.xf:
        if (this.#formats.length === max_styles) throw new DataFault('damaged: it has too many formats of cells')
        this.#formats.push(cursor(2).short())
        break
      case recordTypes.format:
        this.#addFormat(cursor(0))
        break
      case recordTypes.boundSheet:
        if (data.byteLength < 8) throw new DataFault('damaged: a sheet has no name')
        this.#addSheet(data.getUint32(0, true), data.getUint8(4), data.getUint8(5), cursor(6))
        break
      case recordTypes.sharedTexts:
        if (hasTexts) this.#shared = readSharedTexts(this.#records, record)
    }
  }

  #addFormat(cursor: TextCursor): void {
    const id = cursor.short()
    const code = this.#isOld ? cursor.bytes(cursor.byte(), this.#decoder()) : cursor.onlyText(cursor.short())
    this.#codes.set(id, code)
  }

  /** Charts, macros and modules of Visual Basic are sheets of another kind. */
  #addSheet(start: number, state: number, kind: number, cursor: TextCursor): void {
    if (kind !== 0) return
    if (this.#sheets.length === max_sheets) throw new DataFault(`more than ${max_sheets} sheets`)
    const length = cursor.byte()
    const name = this.#isOld ? cursor.bytes(length, this.#decoder()) : cursor.text(length)
    this.#sheets.push({ name, start, isHidden: (state & 3) !== 0 })
  }

  #decoder(): ByteDecoder {
    try {
      return new TextDecoder(encodingsByPage[this.#page] ?? `windows-${this.#page}`)
    } catch {
      throw new DataFault(`texts of code page ${this.#page}, which is not supported: save it as .xlsx`)
    }
  }

  finish(): Omit<BiffWorkbook, 'stream'> {
    if (this.#sheets.length === 0) throw new DataFault('the workbook has no sheet')
    return {
      sheets: this.#sheets,
      has1904Dates: this.#has1904Dates,
      styles: this.#formats.map((id) => kindOfFormat(id, this.#codes.get(id))),
      shared: this.#shared,
      decoder: this.#isOld ? this.#decoder() : undefined,
    }
  }
}
