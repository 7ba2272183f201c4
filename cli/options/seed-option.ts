// What chance begins with where records are resolved: one number for the same data on files, on a service and between sites.
import { integer, withDefault } from '../program/params.ts'

export const seedOption = withDefault(0, integer('N', 'Seed of the random generator', 0, 4_294_967_295))
