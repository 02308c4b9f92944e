"""How names stand in a text: marked as names by their writer, or placed where names stand."""

from __future__ import annotations

import re

from workbench.engine.patterns import lazy_pattern

NAME = r"[A-Z\u00c0-\u00de][\w'’-]*[\w]"
NAMES = rf"{NAME}(?:\ {NAME}){{0,2}}"

LINK = lazy_pattern(
    r"\[\[(?P<target>[^\[\]|#\n]{1,120})(?:#[^\[\]|\n]*)?(?:\|(?P<label>[^\[\]\n]{1,120}))?\]\]"
)
# In backticks stand programs, but also all that programs are made of: what it is has to be said, or that it does
# something.
CODE = lazy_pattern(
    r"""`(?P<program>[A-Za-z][\w.+-]{1,39})`(?=\s+(?:topic|service|tool|cli|program|package|plugin|library|repo
            |repository|bot|queue|app|server|daemon|job|script\b(?!\s+tag))\b)
      | (?:^|[.!?]\s+)(?:the\s+)?`(?P<acting>[A-Za-z][\w.+-]{1,39})`(?=\s+[a-z]+s\b)""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
AT_NAME = lazy_pattern(r"(?<![\w@./'\"])@(?P<name>[A-Za-z][\w-]{1,38})(?![\w@(/-]|\.\w)")
NO_PROSE = lazy_pattern(
    r"""
        ^[^\n]*(?:[;{]|=>|\{\s*\}|\}\)?;?)[ \t]*$                       # a line that ends as code does
      | ^[ \t]*(?:const|let|var|function|def|class|import|export|return|async|await|from[ ]\S+[ ]import|public
            |private|SELECT|INSERT|CREATE|ALTER|npm|pip|git|docker|curl)\b[^\n]*[(){}=<>*;/'"-][^\n]*$
      | ^[ \t]*(?:from[ ]\S+[ ]import|class[ ]\w+(?:\(.*\))?:|@\w+(?:\(.*\))?[ \t]*$)[^\n]*$
      | ^[ \t]*(?:[<$>/]|\#!|//|\w+[ \t]*=[^=\n]|['"]?[\w-]+['"]?:[ \t]*['"\[{\d])[^\n]*$
      | ^[^\n]*[\w)]\.\w+\([^\n]*$                                    # a call of a method
      | \S{0,200}://\S{1,500}                                          # an address
    """,
    re.VERBOSE | re.MULTILINE,
)
FILE_ENDING = lazy_pattern(
    r"\.(?:md|py|js|ts|tsx|json|toml|ya?ml|txt|csv|html|css|rs|go|c|h|sh|lock|cfg|ini|sql)$", re.IGNORECASE
)

# A name that is said to be a project's, or stands in quotation marks as one.
PROJECT = lazy_pattern(
    rf"""
        \b(?i:projects?|codenamed?|codename\ is|initiative)\s+(?:(?i:is|called|named)\s+)?
            ["“'‘]?(?P<after>{NAMES})
      | ["“‘](?P<quoted>[^"”’\n]{{2,40}})["”’]\s+(?i:project|app|service|product|initiative)\b
      | (?<!\ba\ )(?<!\ban\ )(?<!\bmy\ )\b(?P<before>{NAMES})\s+(?i:project|initiative)\b
      | ["“](?P<codename>[^"”\n]{{2,40}})["”]\s+(?i:is\s+(?:the|our)\s+(?:codename|project|product))
    """,
    re.VERBOSE,
)
CHINESE_PROJECT = lazy_pattern(
    r"""
        (?P<before>[A-Za-z][\w-]{1,30})\s?(?:项目|項目|專案|计划|計劃)
      | (?:项目|項目|專案)\s?(?P<after>[A-Z][\w-]{1,30})
      | [《「“](?P<quoted>[^《》「」“”\n]{1,30})[》」”](?:项目|項目|專案)
    """,
    re.VERBOSE,
)
VENTURE = lazy_pattern(rf"\b(?P<name>{NAMES})\s+(?i:rewrite|contract|launch)\b")

# “Port of Ningbo”, “Acme Corp”: what is called so is no person, whatever it asks or wants.
ORGANISATION = lazy_pattern(
    rf"""
        \b(?P<of>(?:Port|City|Town|University|Bank|Ministry|Museum|Institute|Department|Council|Church|House
            |Society|Academy|Bureau|Agency|Association)\ of\ (?:the\ )?{NAMES})
      | \b(?P<kind>(?:{NAME}\ ){{1,3}}(?:Inc|Corp|Corporation|Ltd|LLC|GmbH|AG|AB|University|Institute|Bank|Labs?
            |Foundation|Museum|Hospital|Airlines|Council|Agency|Group|Studios?|Society|Academy|Port|Ventures))\b\.?
      | (?P<chinese>[\u4e00-\u9fff]{{2,6}}?(?:公司|大学|大學|银行|銀行|港|医院|醫院|集团|集團|研究所))
            (?=[的在要是有和与跟说說想请請用,\uff0c。、]|$)
    """,
    re.VERBOSE,
)

_RELATIVE = r"""(?:wife|husband|partner|girlfriend|boyfriend|daughter|son|sister|brother|mother|father|mum|mom|dad
    |cousin|aunt|uncle|manager|boss|colleague|co-?worker|teammate|friend|assistant|doctor|dentist|landlord|lawyer
    |therapist|neighbou?r|roommate|flatmate|mentor|intern|hire|client|accountant|teacher|coach|kid|child)"""
_BELONGING = r"""(?:birthday|e-?mail|phone|number|extension|wife|husband|partner|son|daughter|manager|boss|address
    |last\ name|surname|desk|job|role|salary|dog|cat|divorce|wedding)"""
_MEETING = r"""(?:met|meet|meeting\ with|talked\ to|spoke\ (?:to|with)|call|email|cc|ask|tell|told|asked|thank
    |married|reports?\ to|hired|invited)"""
PERSON_NAMED = lazy_pattern(
    rf"""
        \b(?i:{_RELATIVE})(?:'s|’s)?(?:\s+(?i:name))?\s+(?i:is|was|called|named|is\ called|is\ named|is\ now)\s+
            (?:(?i:called|named|now)\s+)?(?P<is>{NAMES})
      | \b(?i:{_RELATIVE}),?\s+(?P<apposed>{NAMES})
      | (?P<introduced>{NAMES}),\s+(?i:the|our|my)\s+(?:\w+\s+){{0,2}}(?i:{_RELATIVE})\b
      | (?P<owner>{NAMES})['’]s\s+(?i:{_BELONGING})\b
      | \b(?i:mr|mrs|ms|dr|prof)\.?\s+(?P<titled>{NAMES})
    """,
    re.VERBOSE,
)
# Others are met, called and asked too: a single word counts only where it is a given name.
PERSON_MET = lazy_pattern(
    rf"""
        \b(?i:{_MEETING})\s+(?P<name>{NAMES})(?=\s+(?i:who|about|to|on|at|from|for|said|is|and)\b|[.,;!?]|$)
      | \b(?i:developed|maintained|designed|created|owned|reviewed|founded|approved|built|led|made|written)
            \s+by\s+(?P<by>{NAMES})
      | \b(?P<one>{NAMES})\s+and\s+{NAMES}\s+(?i:both|work|live|met|lead|maintain|develop|own|review|design)\b
      | \b{NAME}\s+and\s+(?P<other>{NAMES})\s+(?i:both|work|live|met|lead|maintain|develop|own|review|design)\b
    """,
    re.VERBOSE,
)
# What people alone do and are.
_PERSONAL = r"""(?:lives?|lived|drinks?|eats?|studies|speaks|is\ (?:on\ (?:leave|vacation|holiday|parental)|allergic
    |married|vegetarian|vegan|sick|pregnant|left-handed|retiring|responsible|in\ charge
    |an?\ (?:\w+\ ){0,3}(?:engineer|developer|designer|manager|doctor|teacher|lawyer|nurse|student|colleague|friend
        |consultant|lead|analyst|researcher|writer))
    |has\ (?:a|two|three)\ (?:kids?|child|children|daughters?|sons?)|works?\ (?:at|for|from|as|with|on)
    |worked\ (?:at|for))"""
# What organisations, places and programs do as well.
_ANYBODYS = r"""(?:works?|worked|prefers?|likes?|loves?|hates?|dislikes?|moved|joined|joins|left|leaves|reports|said
    |avoids?|uses|knows|met|says|told|wants?|wanted|asked|agreed|thinks|owns?|manages?|leads?|maintains?|develops?|designs?|reviews?|takes
    |hired|teaches|started|starts|got|is\ (?:the\ new|my|leaving|joining|from|based|on\ call|our))"""
_ADVERB = r"(?:(?i:always|usually|never|also|now|still|really|only|just)\s+)?"
PERSON_LIVES = lazy_pattern(rf"(?P<name>{NAMES})\s+{_ADVERB}(?i:{_PERSONAL})\b", re.VERBOSE)
PERSON_ACTS = lazy_pattern(rf"(?P<name>{NAMES})\s+{_ADVERB}(?i:{_ANYBODYS})\b", re.VERBOSE)

EMPLOYER = lazy_pattern(
    rf"""
        \b(?i:works?|worked|working|job|started|employed|freelanc\w+|intern\w*)\s+(?i:at|for)\s+(?P<name>{NAMES})
      | \b(?i:is|am|are|'m|was)\s+(?:now\ )?at\s+(?P<now>{NAMES})(?=\s+(?i:now|since|until)\b|[.,;!]|$)
      | \b(?i:joined|joins|joining|left)\s+(?P<joined>{NAMES})
            (?:\s+(?i:now|as|last|in|on|this|next)\b|[.,;!]|$)
    """,
    re.VERBOSE,
)
PLACE = lazy_pattern(
    rf"""
        \b(?i:live|lives|lived|living|based|born|fly|flying|flight|trip|travel\w*|office|visit\w*|relocat\w+
            |vacation|holiday)\b(?:\s+\w+){{0,4}}?\s+(?i:in|to|from|at)\s+(?P<name>{NAMES})
      | \b(?i:i|she|he|they|{NAME})\s+(?i:moved|is\ moving)\s+(?:back\ |over\ )?(?i:to|from)\s+(?P<moved>{NAMES})
    """,
    re.VERBOSE,
)
CAMEL = lazy_pattern(
    r"""(?<![\w`/.@-])
        (?P<name>(?:[A-Z][a-z]+[A-Z]\w{0,22}|[A-Z]{2,}[a-z]+\w{0,20}|[A-Z][A-Za-z]{1,8}\d[A-Z]?\w{0,6}(?=\ [A-Z]{3,6}\b)
            |[A-Z]\d[A-Z]\w{0,6})(?:\ [A-Z]{3,6}\b)?)
        (?![\w`/(=]|\.\w)""",
    re.VERBOSE,
)
# “McDonald”, “DeVries”: capitals within a surname; plurals of abbreviations; what programs throw.
CAMEL_BUT_NO_TOOL = lazy_pattern(
    r"(?:Mc|Mac|De|La|Le|Van|Von|Di|Fitz|O)[A-Z][a-z]+$|[A-Z]{2,5}s$|.*(?:Error|Exception|Warning)s?$"
)

_CHINESE_RELATIVE = r"""(?:太太|先生|老公|老婆|妻子|丈夫|女儿|女兒|儿子|兒子|妈妈|媽媽|爸爸|姐姐|妹妹|哥哥|弟弟|同事
    |经理|經理|老板|老闆|房东|房東|客户|客戶|朋友|老师|老師|医生|醫生|联系人|聯絡人)"""
CHINESE_PERSON = lazy_pattern(
    rf"""
        (?P<nick>(?!小[时時组組心孩学學说說型数數区區吃事节節])(?!老[师師板闆是家人的])(?!阿[姨])[小老阿][\u4e00-\u9fff])
            (?=[在的说說要是有和跟喜住去来來负負下上叫明今周週一三四五六日,\uff0c、。\s]|$)
      | {_CHINESE_RELATIVE}(?:现在|現在)?(?:叫做|名叫|叫|是)\s?
            (?P<named>[A-Z]\w+(?:\ [A-Z]\w+)?|[\u4e00-\u9fff]{{2,4}})(?=[,\uff0c、。;\uff1b!\uff01\s]|$)
      | (?P<titled>[\u4e00-\u9fff]{{1,3}})(?:先生|女士|小姐|老师|老師|教授|博士)(?=[在的说說要是有和跟喜住去])
    """,
    re.VERBOSE,
)
WORD = lazy_pattern(r"[A-Za-z\u00c0-\u024f][\w.+#'’-]*\w|[A-Za-z]|[\u4e00-\u9fff]+")
