// Settings of the file-drop carrier, with the limits of the format.

import * as z from 'zod'
import { scannerSettings } from '../../../daemon/shared/body-scanner/scanner-settings.ts'
import { day_ms } from './day-length.ts'

export const filedropSettings = z.strictObject({
  rescan_ms: z.int().min(0).default(5_000).meta({ doc: 'Pause between two scans; 0: none, the watcher alone.' }),
  watch: z.boolean().default(true).meta({ doc: 'Whether changes in the folders start a scan at once.' }),
  truncated_after_ms: z.int().min(0).default(day_ms).meta({ doc: 'How long an incomplete message may wait.' }),
  skew_ms: z.int().min(0).default(900_000).meta({ doc: 'How far the clocks of two sites may be apart.' }),
  trusted_clock: z.boolean().default(true).meta({ doc: 'Without one, sequence alone decides what is fresh.' }),
  max_body_bytes: z.int().min(1).default(4_194_304).meta({ doc: 'Largest body taken in or sent.' }),
  max_envelope_bytes: z
    .int()
    .min(1_024)
    .max(65_536)
    .default(65_536)
    .meta({ doc: 'Largest envelope taken in or sent.' }),
  max_attempts: z.int().min(1).default(3).meta({ doc: 'Crashes or exceptions before a message is POISON.' }),
  max_held: z.int().min(0).default(1_024).meta({ doc: 'Ordered messages that wait behind a gap.' }),
  set_aside_max_messages: z.int().min(0).default(1_024).meta({ doc: 'Messages that wait for roles.' }),
  set_aside_max_bytes: z.int().min(0).default(268_435_456).meta({ doc: 'Bytes of messages that wait for roles.' }),
  quarantine_max_bytes: z.int().min(0).default(1_073_741_824).meta({ doc: 'Per channel; intake stops when reached.' }),
  resend_per_min: z.int().min(1).default(10_000).meta({ doc: 'Messages of a channel sent again in a minute.' }),
  scanner: scannerSettings.optional().meta({ doc: 'Command that judges each body before it is taken in.' }),
  max_hops: z.int().min(0).max(16).default(1).meta({ doc: 'How often a sent message may be passed on.' }),
})
export type FiledropSettings = z.infer<typeof filedropSettings>
export type FiledropSettingsInput = z.input<typeof filedropSettings>

/** A jump of the sequence beyond this is refused: no honest sender loses a million messages in a row. */
export const max_sequence_jump = 2 ** 20
