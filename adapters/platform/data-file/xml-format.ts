// The encoding of an XML document, and the path of the elements that are its records.
import { openUtf8, type TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { type DataFile, DataFileError } from './data-file.ts'

/** Names of encodings in declarations of XML, in lower case. */
const declaredEncodings: Readonly<Record<string, TextEncodingName>> = {
  'utf-8': 'utf-8',
  'us-ascii': 'utf-8',
  'iso-8859-1': 'latin-1',
  'windows-1252': 'windows-1252',
}
const declaration_bytes = 512

/** The encoding that the document declares; undefined where it declares none. Throws `DataFileError` for one that is not read. */
export async function findXmlEncoding(file: DataFile): Promise<TextEncodingName | undefined> {
  const { readDeclaredEncoding } = await import('../../format/xml/read-xml.ts')
  const declared = readDeclaredEncoding(new Uint8Array(file.read(0, Math.min(declaration_bytes, file.size))))
  if (declared === undefined) return undefined
  const name = declared.toLowerCase()
  const known = Object.hasOwn(declaredEncodings, name) ? declaredEncodings[name] : undefined
  if (known) return known
  throw new DataFileError(`is XML in ${declared}, which is not read`, 'convert it to UTF-8, also in its declaration')
}

/** The path of the only elements that can be records. Throws `DataFileError`, and `DataFault` for a document that is not XML. */
export async function findXmlPath(file: DataFile, encoding: TextEncodingName): Promise<string> {
  const { findRecordPaths } = await import('../../format/xml/read-xml.ts')
  const text = file.text(() => undefined)
  const [path, another, ...more] = await findRecordPaths(await openUtf8(text, encoding))
  if (path === undefined)
    throw new DataFileError('has no repeated elements', 'name the elements that are records: `--pointer /…`')
  if (another === undefined) return path
  const named = [path, another, ...more].join(', ')
  throw new DataFileError(`has several kinds of repeated elements: ${named}`, 'name one: `--pointer /…`')
}
