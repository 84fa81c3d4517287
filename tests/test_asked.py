"""What an abstract tells of what is asked, both ways, on an abstract made up for it."""

import pytest

from assistant.evidence.asked import is_stated

SENTENCES = [
    "Training large language models (LLMs) on noisy data is costly.",
    "We introduce SieveTune, a filter that drops noisy examples before fine-tuning.",
    "SieveTune needs no retraining and keeps only 30% of the examples.",
    "Experiments on three chemistry datasets with Qwen2.5-7B show that it improves accuracy by 4.2 points over "
    "loss-based baselines and makes training 3x faster.",
    "In a study with 25 participants, its filtered answers were preferred.",
    "Code is available at https://example.org/sievetune.",
]


def stated(question: str, sentences: list[str] = SENTENCES) -> bool:
    return is_stated(question, sentences, sentences[:3] if len(sentences) < 3 else sentences[2:5], ["SieveTune"])


@pytest.mark.parametrize(
    "question",
    [
        "Is the code of SieveTune public?",
        "How many people took part in the SieveTune study?",
        "How many datasets was SieveTune tested on?",
        "What share of the examples does SieveTune keep?",
        "By how many points does SieveTune improve accuracy?",
        "How much faster is training with SieveTune?",
        "What accuracy gain does SieveTune bring?",
        "Which model was fine-tuned with SieveTune?",
        "Which datasets was SieveTune tested on?",
        "What kind of data sets was SieveTune tested on?",
        "Which baselines does SieveTune beat?",
        "Is SieveTune better than loss-based filtering?",
        "Was SieveTune tested on chemistry data?",
        "Does SieveTune work with Qwen2.5-7B?",
        "What does SieveTun do with noisy examples?",
    ],
)
def test_what_is_told_is_stated(question: str) -> None:
    assert stated(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who are the authors of SieveTune?",
        "At which university was SieveTune developed?",
        "When was the SieveTune paper published?",
        "Who annotated the data of SieveTune?",
        "Under which licence is SieveTune released?",
        "In what programming language is SieveTune written?",
        "On what hardware was SieveTune trained?",
        "How long does SieveTune take to run?",
        "How much memory does SieveTune save?",
        "What learning rate does SieveTune use?",
        "What batch size was used with SieveTune?",
        "Over how many seeds are the SieveTune results averaged?",
        "How many molecules are in the SieveTune data sets?",
        "How many languages does SieveTune support?",
        "What perplexity does SieveTune reach?",
        "Are the gains of SieveTune statistically significant?",
        "What are the names of the three datasets SieveTune was tested on?",
        "Is SieveTune better than random sampling?",
        "Does SieveTune outperform DataComp?",
        "In the paper on noisy examples, what learning rate was used?",
        "Does SieveTune support images?",
        "Was SieveTune evaluated on Wikipedia?",
    ],
)
def test_what_is_not_told_is_not_stated(question: str) -> None:
    assert not stated(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which method drops noisy examples before fine-tuning, using 30% of them?",
        "Is there a way of fine-tuning on noisy data that needs no GPU cluster?",
        "Has anybody filtered training examples without annotators?",
        "Why does SieveTune need no GPUs?",
    ],
)
def test_a_question_for_the_paper_or_for_a_reason_is_not_searched_for_details(question: str) -> None:
    assert stated(question)


@pytest.mark.parametrize(
    ("question", "sentence", "answered"),
    [
        ("Which models was SieveTune tested on?", "SieveTune works on models of many sizes.", False),
        ("Which models was SieveTune tested on?", "SieveTune works on Llama 3 and other models.", True),
        ("How many layers does SieveTune prune?", "SieveTune prunes twelve layers.", True),
        ("How many layers does SieveTune prune?", "SieveTune prunes layers of LLaMA-3.1-8B.", False),
        ("What batch size does SieveTune need?", "SieveTune works with small batches.", False),
        ("What batch size does SieveTune need?", "SieveTune works with batches of 16.", True),
        ("What pass rate does SieveTune reach?", "SieveTune passes 40% of tests, a rate unheard of.", True),
        ("What pass rate does SieveTune reach?", "SieveTune doubles speed at 3 bits; its rate is high.", True),
        ("What pass rate does SieveTune reach?", "SieveTune raises the pass rate.", False),
        ("Is a university named in SieveTune?", "SieveTune is for students.", False),
        ("Do pre-university students use SieveTune?", "SieveTune is for students.", True),
    ],
)
def test_a_number_or_a_name_is_looked_for_beside_what_it_is_of(question: str, sentence: str, answered: bool) -> None:
    assert stated(question, [sentence]) == answered


STUDY = [
    "Little is known of naps in shift workers.",
    "Thirty-six nurses (58.3% female), aged 25-40 years, and adults (n = 41) took part in a randomized trial.",
    "They slept for 20 minutes after 300mg of caffeine; blood pressure was read every hour for 6 weeks.",
    "Median reaction time was 310 ms, and cortisol was lower than in controls (p=0.03).",
    "Of the 36 nurses, 12 (33%) tired nurses had drowsy spells (OR 0.95, 95% CI: 0.61-1.47).",
    "Magnetic resonance, read by two radiologists in Oslo, showed no change, and intense light a lasting one.",
]


def of_study(question: str) -> bool:
    return is_stated(question, STUDY, STUDY[1:4], ["Naps in shift workers"])


@pytest.mark.parametrize(
    "question",
    [
        "How old were the nurses who took naps?",
        "What share of the nurses in the study were women?",
        "Were the nurses male or female?",
        "How many people took part in the study of naps?",
        "How many of the nurses in the study had drowsy spells?",
        "What dose of caffeine did the nurses get?",
        "What was the median reaction time in the study of naps?",
        "How significant was the difference in cortisol after naps?",
        "What odds ratio was found for drowsy spells after naps?",
        "What was the design of the study of naps in shift workers?",
        "What did MR show after naps?",
        "Did the change last or does it fade?",
        "Who carried out the tests of the shift workers?",
        "In which country did the nurses work?",
        "What share of the nurses had drowsy spells?",
        "What was the sample size of the study of naps?",
    ],
)
def test_what_a_study_tells_is_stated(question: str) -> None:
    assert of_study(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the study of naps?",
        "Who funded the study of naps?",
        "How many nurses died?",
        "What anaesthetic did the nurses get?",
        "What share of the nurses in the study was black?",
        "What share of the nurses had migraine?",
        "What side effects did caffeine have in the nurses?",
        "Which nurses were excluded from the study of naps?",
        "How many of the nurses in the study were smokers?",
        "How many of the nurses got migraine after naps?",
        "What was the mean cortisol at baseline?",
        "How high was cortisol after naps?",
        "What was the hazard ratio of naps for drowsiness?",
        "Were they day workers from Turku or Bergen?",
        "In which organs was caffeine found?",
        "How was the study of naps blinded, or was it not blinded?",
        "What did PET show after naps?",
    ],
)
def test_what_a_study_leaves_out_is_not_stated(question: str) -> None:
    assert not of_study(question)


@pytest.mark.parametrize(
    ("question", "sentence", "answered"),
    [
        ("How large are the gains of SieveTune?", "SieveTune outperforms all others by 20%.", True),
        ("How large are the gains of SieveTune?", "SieveTune outperforms all 7 others.", False),
        ("How big is the filter in SieveTune?", "The filter of SieveTune has 7M parameters.", True),
        ("How big is the filter in SieveTune?", "The filter of SieveTune is made in 3 hours.", False),
        ("How many models does SieveTune train?", "SieveTune (2 of them large) trains eighty-eight models.", True),
    ],
)
def test_times_and_sizes_of_samples_are_no_other_value(question: str, sentence: str, answered: bool) -> None:
    assert stated(question, [sentence]) == answered


def test_a_paper_named_in_full_is_asked_about() -> None:
    question = "Is there a repository for Sieved Tuning?"
    assert not is_stated(question, ["Sieved Tuning (SieveTune) drops examples."], [], ["SieveTune", "Sieved", "Tuning"])


@pytest.mark.parametrize(
    "question",
    [
        "Which data filters is SieveTune compared with?",
        "What are the baselines called that SieveTune beats?",
        "Which model was Siever-2 distilled from?",
    ],
)
def test_what_is_compared_or_introduced_is_asked_of_the_paper(question: str) -> None:
    sentences = ["We introduce SieveTune, with the model Siever-2.", "It outperforms state-of-the-art baselines by 2%."]
    assert not stated(question, sentences)
    assert stated(question, [*sentences, "We also distil models from Llama 3; baselines are DataComp and Dolma-X."])


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Does HIV-related stress change sleep?", True),
        ("Does FIV-related stress change sleep?", False),
        ("Does sleep change in ICU patients?", True),
        ("Does sleep change in Bergen?", False),
        ("Does Sleep Change in Patients with Longstanding Stress?", True),
        ("Was it called in OR-Tools?", False),
    ],
)
def test_names_are_held_in_other_forms(question: str, answered: bool) -> None:
    assert stated(question, ["HIV or stress changes the sleep of intensive care unit patients."]) == answered


@pytest.mark.parametrize(
    ("question", "sentence", "answered"),
    [
        ("How long did the naps last?", "They slept for 20 min.", True),
        ("How long did the naps last?", "Year 3 students slept.", False),
        ("When was pain measured?", "Pain was measured at baseline.", True),
        ("From what age on were naps studied?", "Adults (≥60 years) took naps.", True),
        ("What strain were the rats that took naps?", "Wistar rats took naps.", True),
        ("Which drugs did the nappers take?", "They took diazepam or aspirin.", True),
        ("Which drugs did the nappers take?", "They took naps.", False),
        ("Which kit was used after naps?", "Blood was taken after naps.", False),
        ("How many children took naps?", "Of all, 47.1% of children took naps.", False),
        ("How many of the children took naps?", "Of all, 47.1% of children took naps.", True),
        ("How many specimens were taken after naps?", "After naps, 12 specimens were taken.", True),
        ("How many minutes did the naps last?", "Naps took 30 min.", True),
        ("How many nappers wore a watch?", "A watch was worn by 12 nappers.", True),
        ("How many nurses gave blood samples?", "Blood samples were taken of 41 nurses.", True),
        ("How many nurses drank much coffee?", "The study had 41 nurses.", False),
        ("How many plates of blood were read?", "Plates of 230 nurses with blood were read.", True),
        ("In which Norwegian city do the nurses work?", "Norwegian nurses took naps.", False),
        ("In which country do the nurses work?", "Norwegian nurses took naps.", True),
        ("Which company paid for the naps?", "Naps were taken at a university.", False),
        ("How old was the girl who took naps?", "A seven-year-old girl took naps.", True),
        ("To which model were the naps fitted?", "Naps fit the Rasch model.", True),
        ("How many cases of drowsiness were there?", "Drowsiness (DRO, n=17) was seen.", True),
        ("How many women were in the Swiss study of naps?", "In Zürich 12 women took naps.", True),
        ("Which drinks was coffee compared with?", "Coffee and drinks such as tea were compared.", True),
        ("Does the INR fall after naps?", "Little is known of what is in naps.", False),
        ("Are naps frequent in Ghanaian cities?", "In Ghana, naps are frequent in cities.", True),
        ("Who interviewed the nurses?", "Interviews were held by two trained physicians.", True),
        ("Who interviewed the nurses?", "Nurses and physicians take naps.", False),
    ],
)
def test_a_study_is_read_for_what_is_asked(question: str, sentence: str, answered: bool) -> None:
    assert is_stated(question, [sentence], [sentence], ["Naps in shift workers"]) == answered
