// Input files that are named on the command line, and the size limit of each kind.
import { offline } from '../../daemon/offline/offline.ts'

/** A receipt is one JWS: at most 64 KiB of payload with 16 signatures of the largest kind. */
export const max_receipt_bytes = 524_288
/** A key set file holds up to 256 sets of up to 64 KiB with their signatures. */
export const max_key_set_bytes = 67_108_864
/** Certificates of authorities: more than any operating system trusts. */
export const max_authorities_bytes = 4_194_304
/** Records for a request, which the service limits further. */
export const max_data_bytes = 268_435_456

export const { readInputFile } = offline
