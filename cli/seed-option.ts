// What chance begins with where records are resolved: one number for the same data on files, on a service and between sites.
import { otherwise, whole } from './params.ts'

export const seedOption = otherwise(0, whole('N', 'what chance begins with', 0, 4_294_967_295))
