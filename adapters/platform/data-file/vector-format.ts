// The layer of a GeoPackage, the encoding of a shapefile, and the reference system of the coordinates of both.
import { encodingLabels } from '../../../daemon/kernel/data/utf8-source.ts'
import { type DataFile, DataFileError } from './data-file.ts'
import type { DataFormat } from './data-kinds.ts'

type FoundFormat = { readonly format: DataFormat; readonly remarks: readonly string[] }

const max_named_layers = 5

/** Throws `DataFileError` where several layers leave the choice open, and `DataFault`. */
export async function chooseLayer(file: DataFile, stated: DataFormat): Promise<FoundFormat> {
  const { listLayers } = await import('../../format/geopackage/read-geopackage.ts')
  const { layers, hasWriteAheadLog } = listLayers(file)
  const names = layers.map(({ name }) => name)
  if (stated.sheet === undefined && names.length > 1) {
    const named = names.slice(0, max_named_layers).map((name) => JSON.stringify(name))
    const rest = names.length > max_named_layers ? ` and ${names.length - max_named_layers} more` : ''
    throw new DataFileError(`has several layers: ${named.join(', ')}${rest}`, 'name one: `--sheet NAME`')
  }
  const found = layers.find(({ name }) => name === stated.sheet) ?? layers[Number(stated.sheet ?? 1) - 1]
  if (!found) return { format: stated, remarks: [] }
  const remarks = hasWriteAheadLog ? ['the file alone, without the changes that a file -wal beside it may have'] : []
  return {
    format: { ...stated, sheet: found.name, srs: found.srs },
    remarks: [...remarks, ...describeSrs(found.srs)],
  }
}

/** `onRead` is called while the texts are searched for the encoding. Throws `DataFault`. */
export async function examineShapefile(
  file: DataFile,
  stated: DataFormat,
  onRead: (read_bytes: number) => void,
): Promise<FoundFormat> {
  const { openShapefile } = await import('../../format/shapefile/shapefile-archive.ts')
  const { encoding, isEncodingFound, srs } = await openShapefile(file, stated.encoding, onRead)
  const remarks = isEncodingFound ? [`${encodingLabels[encoding]} (--encoding states another)`] : []
  return { format: { ...stated, encoding, srs }, remarks: [...remarks, ...describeSrs(srs)] }
}

function describeSrs(srs: string | undefined): string[] {
  return srs === undefined ? [] : [`coordinates of ${srs}, as they are`]
}
