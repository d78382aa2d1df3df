/** Refusals of scheduled methods. */
import { define } from './definition.ts'

export const crons = {
  'cron-misplaced': define<{ name: string; className: string; role?: string | undefined; answer?: string | undefined }>(
    {
      summary: '@Cron stands on a method of a class that is no provider',
      why: 'The runtime calls a scheduled method on the instance that the container builds of a class with `@Injectable`. A controller answers requests, and a webhook answers deliveries. Of any other class, and of one that a recipe replaces, no instance would exist, and the method would never run.',
      message: ({ name, className, role, answer }) => {
        if (answer !== undefined)
          return `@Cron stands on ${name}, and ${answer} is constructed in place of ${className}`
        return role === undefined
          ? `@Cron stands on ${name}, and ${className} has no @Injectable()`
          : `@Cron stands on ${name}, and ${className} has @${role}, so it is no provider`
      },
      fix: ({ role, className, answer }) => {
        if (answer !== undefined) return `move @Cron to a method of ${answer}`
        return role === undefined
          ? `add \`@Injectable()\` to ${className}, and list it in the \`providers\` of a module`
          : 'move the method into a class with `@Injectable()`, and list that class in the `providers` of a module'
      },
    },
  ),
  'cron-schedule-malformed': define<{ schedule: string; reason: string; fix: string }>({
    summary: 'The schedule of @Cron is not one that the local stack and the platform read alike',
    why: 'A schedule is five fields in UTC: minute, hour, day of the month, month and day of the week. The platform refuses a trigger that it cannot read only when the worker is deployed. Some forms it reads otherwise than other parsers do, so the method would run at other times than on the local stack.',
    message: ({ schedule, reason }) => `the schedule "${schedule}" is malformed: ${reason}`,
    fix: ({ fix }) => fix,
  }),
  'cron-schedule-twice': define<{ name: string; schedule: string }>({
    summary: 'A method has the same schedule twice',
    why: 'A trigger of the platform is its schedule, and a method runs once when that is due. The second decorator would have no effect.',
    message: ({ name, schedule }) => `${name} has the schedule "${schedule}" twice`,
    fix: () => 'remove one of the two, or change its schedule',
  }),
  'cron-with-parameters': define<{ name: string; parameter: string }>({
    summary: 'A scheduled method has a parameter',
    why: 'There is no request when a schedule is due, so the runtime calls the method without arguments. Every parameter would be `undefined`, although its type does not say so.',
    message: ({ name, parameter }) => `${name} is scheduled, and its parameter ${parameter} would always be undefined`,
    fix: () => 'remove the parameter, and use the ambient services and the dependencies of the constructor',
  }),
  'cron-weekday-numbered': define<{ schedule: string; named: string }>({
    severity: 'warning',
    summary: 'The schedule of @Cron numbers a day of the week',
    why: 'The platform counts the days of the week from 1 for Sunday, and most other schedulers from 0. So `1-5` is Sunday to Thursday here, and Monday to Friday in a crontab. A reader cannot tell which one is meant, and the work may run on the wrong day.',
    message: ({ schedule, named }) => `the days of the week in "${schedule}" are ${named}, because Sunday is 1`,
    fix: ({ named }) => `write \`${named}\`, or the days that are meant, by their names`,
  }),
  'crons-inherited': define<{ name: string; base: string }>({
    summary: 'A provider extends a class that has scheduled methods of its own',
    why: 'The build reads schedules from the class that declares them, and from no subclass. The method would run on an instance of the base class, or never where no module lists that class, and not with what the subclass overrides.',
    message: ({ name, base }) => `${name} does not inherit the schedules of ${base}`,
    fix: () => 'declare the scheduled methods in the subclass, or give it the base class as a dependency',
  }),
}
