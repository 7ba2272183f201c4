// Columns of files that land as they are: where they are in the dataset, and what is within them.

/** Place and length of a small JPEG within the file. */
export const thumbnail_start_column = 'thumbnail_start'
export const thumbnail_bytes_column = 'thumbnail_bytes'
/** Names of files of the dataset. */
export const media_column = 'media'
export const thumbnail_column = 'thumbnail'
/** SHA-256 of the file. */
export const media_digest_column = 'sha256'
