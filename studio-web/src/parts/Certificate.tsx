// What the judge says of a clip, in one mark.
import type { ClipSummary } from "../messages";
import { Icon } from "./Icon";

export function CertificateMark({ clip, isLong = false }: { clip: ClipSummary; isLong?: boolean }) {
  const { is_certified, verdict, trouble } = clip;
  if (trouble) return <Mark tone="bad" icon="alert" text="Unreadable" title={trouble} />;
  if (is_certified === null) {
    return <Mark tone="wait" icon="clock" text="Not judged yet" title="Not judged yet" />;
  }
  const text = is_certified ? "Certified" : "Not certified";
  return (
    <Mark
      tone={is_certified ? "good" : "bad"}
      icon={is_certified ? "check" : "cross"}
      text={isLong || !is_certified ? text : ""}
      title={verdict ?? text}
    />
  );
}

interface MarkProps {
  tone: "good" | "bad" | "wait";
  icon: "check" | "cross" | "clock" | "alert";
  text: string;
  title: string;
}

function Mark({ tone, icon, text, title }: MarkProps) {
  return (
    <span class={`mark mark-${tone}`} title={title} aria-label={title} role="img">
      <Icon name={icon} />
      {text && <span>{text}</span>}
    </span>
  );
}
