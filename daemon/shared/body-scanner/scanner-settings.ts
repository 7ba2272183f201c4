// Settings of the command that scans bodies before a site accepts them.
import * as z from 'zod'

const absolutePath = z.string().startsWith('/', 'must be an absolute path').max(4_096)

export const scannerSettings = z.strictObject({
  command: z
    .array(z.string().min(1).max(4_096))
    .min(1)
    .max(64)
    .refine(([program]) => program?.startsWith('/'), 'must begin with an absolute path'),
  timeout_s: z.int().min(1).max(3_600).default(60),
  memory_mb: z.int().min(64).max(1_048_576).default(4_096),
  visible: z.array(absolutePath).max(64).default([]),
})
export type ScannerSettings = z.infer<typeof scannerSettings>
