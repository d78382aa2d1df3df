/** Turns declared schedules into rows of the route table. Pure. */
import type { Cron } from '../../runtime/table.ts'
import { canonicalSchedule } from '../../src/wire/cron.ts'
import { type ClassDeclaration, text } from '../declaration.ts'
import { declaredCrons } from '../routes.ts'

/** One row for each schedule of each method. */
export function linkCrons(declaration: ClassDeclaration, indexOf: (declaration: ClassDeclaration) => number): Cron[] {
  return declaredCrons(declaration).map(({ member, schedule }) => ({
    schedule: canonicalSchedule(text(schedule)!),
    target: indexOf(declaration),
    class: declaration.name,
    handler: member.name,
    file: declaration.file,
    line: member.line,
  }))
}
