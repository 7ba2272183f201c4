// The facts about an image: the columns of its row.
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { thumbnail_bytes_column, thumbnail_start_column } from '../../../daemon/kernel/data/media-columns.ts'

const [text, integer, double] = [{ type: 'text' }, { type: 'int64' }, { type: 'double' }] as const

/** Columns in their order, with their types. */
export const imageColumns = {
  image: integer,
  format: text,
  width: integer,
  height: integer,
  bits: integer,
  samples: integer,
  color: text,
  compression: text,
  orientation: integer,
  taken_at: { type: 'local_timestamp', unit: 'ms' },
  taken_offset: text,
  camera_make: text,
  camera_model: text,
  lens: text,
  software: text,
  description: text,
  artist: text,
  copyright: text,
  latitude: double,
  longitude: double,
  altitude_m: double,
  crs: text,
  min_x: double,
  min_y: double,
  max_x: double,
  max_y: double,
  pixel_width: double,
  pixel_height: double,
  no_data: text,
  sample_format: text,
  tile_width: integer,
  tile_height: integer,
  tiles: integer,
  overviews: integer,
  [thumbnail_start_column]: integer,
  [thumbnail_bytes_column]: integer,
} as const satisfies Readonly<Record<string, ValueType>>

/** Values by column; those that an image does not state are absent. */
export type ImageFacts = { readonly [column in keyof typeof imageColumns]?: string | number | undefined }
